import { render } from "preact";
import { App } from "./app";
import { begin } from "./store";
import { beginTheme } from "./theme";

beginTheme();
const page = document.getElementById("page")!;
page.replaceChildren();
render(<App />, page);
void begin();
