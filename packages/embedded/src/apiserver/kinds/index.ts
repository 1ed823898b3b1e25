/** The one table of built-in kinds: a kind is added by adding its entry, and its schema to the generator's roots. */
import { customResourceDefinition } from "../crd/custom-resource-definition.ts";
import { accessKinds } from "./access.ts";
import { appsKinds } from "./apps.ts";
import { clusterKinds } from "./cluster.ts";
import { coreKinds } from "./core.ts";
import { extensionKinds } from "./extension.ts";
import type { BuiltinKind } from "./kind.ts";
import { policyKinds } from "./policies.ts";
import { pod } from "./pod.ts";
import { storageKinds } from "./storage.ts";

export const builtinKinds: readonly BuiltinKind[] = [
  ...coreKinds,
  pod,
  ...storageKinds,
  ...appsKinds,
  ...clusterKinds,
  ...extensionKinds,
  ...policyKinds,
  ...accessKinds,
  customResourceDefinition,
];

const messages = new Map(
  builtinKinds.map(({ group, version, kind, schema }) => [
    `${group === "" ? version : `${group}/${version}`} ${kind}`,
    schema,
  ]),
);

/** The name of a kind's message in the protobuf form; undefined for kinds that are not built in. */
export const builtinMessage = (apiVersion: string, kind: string): string | undefined =>
  messages.get(`${apiVersion} ${kind}`);
