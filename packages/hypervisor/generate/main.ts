/** Writes docs/reference/capabilities.md from the capability registry. `npm run generate` calls it. */
import { writeFile } from "node:fs/promises";
import { renderCapabilityPage } from "./capability-page.ts";

await writeFile(new URL("../../../docs/reference/capabilities.md", import.meta.url), renderCapabilityPage());
