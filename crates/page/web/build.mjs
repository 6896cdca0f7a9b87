// Makes one HTML file of the page, its worker and the WebAssembly module.
//
//   node build.mjs MODULE.wasm OUTPUT.html

import { readFile, writeFile } from "node:fs/promises";
import { deflateRawSync } from "node:zlib";
import { build } from "esbuild";

const [modulePath, outputPath] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;

async function bundled(entry, plugins = []) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".css": "text" },
    legalComments: "none",
    plugins,
  });
  return result.outputFiles[0].text;
}

const worker = await bundled("src/worker.ts");
const workerSource = {
  name: "worker-source",
  setup(build) {
    build.onResolve({ filter: /^worker-source$/ }, () => ({ path: "worker", namespace: "worker-source" }));
    build.onLoad({ filter: /.*/, namespace: "worker-source" }, () => ({ contents: worker, loader: "text" }));
  },
};
const script = await bundled("src/main.tsx", [workerSource]);
const style = (await readFile(`${here}node_modules/uplot/dist/uPlot.min.css`, "utf8")) +
  (await readFile(`${here}src/style.css`, "utf8"));
const module = deflateRawSync(await readFile(modulePath), { level: 9 }).toString("base64");
const licences = await Promise.all(["preact", "uplot"].map(async (name) =>
  `${name}\n\n${await readFile(`${here}node_modules/${name}/LICENSE`, "utf8")}`));
const template = await readFile(`${here}src/page.html`, "utf8");
// A function as replacement: `$` has no meaning in what is put in.
const page = template
  .replace("<!--licences-->", () => `<!--\nThis page holds:\n\n${licences.join("\n").replaceAll("--", "- -")}-->`)
  .replace("/*style*/", () => style)
  .replace("/*module*/", () => module)
  .replace("/*script*/", () => script.replaceAll("</script", "<\\/script"));
await writeFile(outputPath, page);
console.log(`page: ${outputPath} has ${page.length} bytes, ${module.length} of them the module`);
