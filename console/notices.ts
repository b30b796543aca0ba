// Writes assets/licenses.txt beside the pages: every package whose code they contain, with its licence.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const PERMISSIVE = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);
const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;

function textOf(folder: string): string {
  const name = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return name === undefined ? "" : readFileSync(join(folder, name), "utf8").trim();
}

function notice(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!PERMISSIVE.has(about.license)) {
    throw new Error(`The pages contain ${about.name}, whose licence is ${about.license}.`);
  }
  return `${about.name} ${about.version} (${about.license})\n\n${textOf(folder)}\n`;
}

export function notices(): Plugin {
  return {
    name: "notices",
    generateBundle() {
      const folders = new Set<string>();
      for (const id of this.getModuleIds()) {
        const folder = PACKAGE.exec(id)?.[1];
        if (folder !== undefined && !folder.includes("\0")) folders.add(folder);
      }
      const source = [...folders].sort().map(notice).join("\n----\n\n");
      this.emitFile({ type: "asset", fileName: "assets/licenses.txt", source });
    },
  };
}
