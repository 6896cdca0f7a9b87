// Uses the page as a person does, in a browser without a network, and prints what was seen as JSON.
//
//   node browser.mjs chrome|firefox EXECUTABLE PAGE.html DESIGN.toml DIRECTORY
//
// What the page saves goes to DIRECTORY.

import { access } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [browserName, executablePath, pagePath, designPath, directory] = process.argv.slice(2);
const isFirefox = browserName === "firefox";
const LONGEST_MS = 240_000;

const browser = await puppeteer.launch({
  browser: browserName,
  executablePath,
  headless: true,
  userDataDir: join(directory, "profile"),
  protocolTimeout: LONGEST_MS,
  args: isFirefox ? [] : [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
  extraPrefsFirefox: {
    "browser.download.folderList": 2, "browser.download.dir": directory, "browser.download.useDownloadDir": true,
    "browser.helperApps.neverAsk.saveToDisk": "application/toml,application/json,text/html", "app.update.disabledForTesting": true,
    "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
  },
});

async function until(what, found) {
  const end = Date.now() + LONGEST_MS;
  for (;;) {
    const value = await found().catch(() => undefined);
    if (value) return value;
    if (Date.now() > end) throw new Error(`after ${LONGEST_MS / 1000} s: no ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

try {
  const page = await browser.newPage();
  page.setDefaultTimeout(LONGEST_MS);
  const messages = [];
  const requests = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  if (!isFirefox) {
    await page.setOfflineMode(true);
    const session = await browser.target().createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: directory });
  }
  const text = (selector) => page.$eval(selector, (element) => element.textContent);
  const value = (selector) => page.$eval(selector, (element) => element.value);
  const alert = () => page.$eval("[role=alert]", (element) => element.textContent);
  const settled = () => until("whole prediction", () => page.$eval(".answer", (element) =>
    element.getAttribute("aria-busy") === "false" && !element.classList.contains("stale") && !element.querySelector(".short")));
  const type = async (selector, words) => {
    await page.focus(selector);
    await page.$eval(selector, (element) => element.select());
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
  };
  const click = (words) => page.evaluate((words) => {
    [...document.querySelectorAll("button")].find((button) => button.textContent === words).click();
  }, words);
  const saved = (name) => until(name, () => access(join(directory, name)).then(() => true));
  const drop = (contents) => page.evaluate((contents) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([contents], "garbage.toml"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, contents);

  await page.goto(pathToFileURL(pagePath).href);
  const first = await until("first answer", () => text("#verdict .word"));

  const disks = "#field-array\\.pool\\.0\\.disk_count";
  const open = await page.$("#open");
  await open.uploadFile(designPath);
  await until("opened design", async () => (await value("#field-mailboxes")) === "100");
  await type(disks, "12");
  await until("changed design", async () => (await text("pre")).includes("disk_count = 12"));
  await settled();
  const verdict = await text("#verdict .word");
  await click("Save the design");
  await saved("design.toml");
  await click("Save the result");
  await saved("result.json");

  await type(disks, "many");
  const wrongField = await until("message beside the field", async () => (await alert()) || undefined);
  await type(disks, "14");
  await until("field in order again", async () => (await page.$("[role=alert]")) === null);

  await drop("\u0000\u0001 <no> = toml ][");
  const garbage = await until("message about garbage", async () => (await alert()) || undefined);
  await type(disks, "16");
  await until("design after garbage", async () => (await text("pre")).includes("disk_count = 16"));
  await settled();
  const after = await text("#verdict .word");
  const address = page.url();

  const again = await browser.newPage();
  again.on("console", (message) => messages.push(message.text()));
  again.on("pageerror", (error) => messages.push(String(error)));
  await again.goto(address);
  const fromAddress = await until("design of the address", () => again.$eval(disks, (element) => element.value));

  const fetched = requests.filter((url) => !/^(file|blob|data|about):/.test(url));
  console.log(JSON.stringify({ first, verdict, wrongField, garbage, after, fromAddress, messages, fetched }));
} finally {
  await browser.close();
}
