/** Prints what becomes of every machine field of a VMI on every platform: `npm run coverage:fields`. */
import { judgeAll, summarize } from "../src/testing/field-coverage.ts";

process.stdout.write(summarize(judgeAll()));
