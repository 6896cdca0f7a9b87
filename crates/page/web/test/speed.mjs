// Measures the page in a browser: time to the first answer, and the whole prediction of a minute of mail.
//
//   node speed.mjs chrome|firefox EXECUTABLE PAGE.html

import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [browserName, executablePath, pagePath] = process.argv.slice(2);
const ROUNDS = 5;
const MINUTE = `kind = "mail"
extends = "exchange-2013"
[run]
held_rate = 2000
duration = "1m"
[array]
extends = "msa2050"
`;

const directory = await mkdtemp(join(tmpdir(), "proofload-page-"));
const design = join(directory, "minute.toml");
await writeFile(design, MINUTE);
const browser = await puppeteer.launch({
  browser: browserName,
  executablePath,
  headless: true,
  userDataDir: join(directory, "profile"),
  args: browserName === "firefox" ? [] : [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ],
});

/** Notes when a first answer and a whole one of a design are shown. */
function watch(words) {
  window.seen = {};
  const note = () => {
    const verdict = document.querySelector("#verdict");
    if (!verdict?.textContent.includes(words)) return;
    const kind = verdict.querySelector(".short") ? "first" : "whole";
    window.seen[kind] ??= performance.now();
  };
  window.watching?.disconnect();
  window.watching = new MutationObserver(note);
  window.watching.observe(document, { childList: true, subtree: true, characterData: true });
}

const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const times = { first_answer_ms: [], first_answer_minute_ms: [], minute_ms: [] };
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.evaluateOnNewDocument(watch, "mailboxes");
    await page.goto(pathToFileURL(pagePath).href);
    await page.waitForFunction(() => window.seen.first);
    times.first_answer_ms.push(await page.evaluate(() => window.seen.first));
    await page.waitForFunction(() => window.seen.whole);
    await page.evaluate(watch, "held rate of 2,000");
    const began = await page.evaluate(() => performance.now());
    await (await page.$("#open")).uploadFile(design);
    await page.waitForFunction(() => window.seen.whole);
    const { first, whole } = await page.evaluate(() => window.seen);
    times.first_answer_minute_ms.push(first - began);
    times.minute_ms.push(whole - first);
    await page.close();
  }
} finally {
  await browser.close();
  await rm(directory, { recursive: true, force: true });
}
const { size } = await stat(pagePath);
console.log(`${browserName} ${await Promise.resolve(browser.version?.()).catch(() => "")}, file ${size} bytes`);
for (const [name, all] of Object.entries(times)) {
  console.log(`  ${name}: ${middle(all).toFixed(0)} (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`);
}
