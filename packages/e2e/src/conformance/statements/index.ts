/** What we say about Kubernetes. Each statement is true of a real API server, and so has to be of ours. */
import type { Statement } from "../statement.ts";
import { accessStatements } from "./access.ts";
import { applyStatements } from "./apply.ts";
import { customResourceStatements } from "./custom-resources.ts";
import { lifecycleStatements } from "./lifecycle.ts";
import { patchStatements } from "./patch.ts";
import { readStatements } from "./read.ts";
import { refusalStatements } from "./refusals.ts";
import { requestStatements } from "./requests.ts";
import { watchStatements } from "./watch.ts";
import { webhookStatements } from "./webhooks.ts";

export const statements: readonly Statement[] = [
  ...applyStatements,
  ...patchStatements,
  ...readStatements,
  ...refusalStatements,
  ...lifecycleStatements,
  ...watchStatements,
  ...customResourceStatements,
  ...accessStatements,
  ...requestStatements,
  ...webhookStatements,
];
