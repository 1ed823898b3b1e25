import type { Dialect } from "../dialect.ts";
import type { Environment } from "../environment.ts";
import { authorizerVariables } from "../lib/kubernetes/authorizer.ts";
import { jsonPatchLibrary } from "../lib/kubernetes/json-patch.ts";
import type { TypeProvider } from "../type-provider.ts";
import { BOOL, DYN, INT, STRING, TIMESTAMP, listOf, mapOf, structType, type Type } from "../types.ts";
import { kubernetesEnvironment } from "./kubernetes-environment.ts";
import { mutationTypes } from "./mutation-types.ts";

type Fields = Readonly<Record<string, Type>>;

const GVK = structType("kubernetes.GroupVersionKind");
const GVR = structType("kubernetes.GroupVersionResource");
const USER_INFO = structType("kubernetes.UserInfo");
const texts = listOf(STRING);

const structs: Readonly<Record<string, Fields>> = {
  "kubernetes.GroupVersionKind": { group: STRING, version: STRING, kind: STRING },
  "kubernetes.GroupVersionResource": { group: STRING, version: STRING, resource: STRING },
  "kubernetes.UserInfo": { username: STRING, uid: STRING, groups: texts, extra: mapOf(STRING, texts) },
  "kubernetes.AdmissionRequest": {
    kind: GVK,
    resource: GVR,
    subResource: STRING,
    requestKind: GVK,
    requestResource: GVR,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: USER_INFO,
    dryRun: BOOL,
    options: DYN,
  },
  "kubernetes.NamespaceSpec": { finalizers: texts },
  "kubernetes.NamespaceCondition": {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  },
  "kubernetes.NamespaceStatus": { conditions: listOf(structType("kubernetes.NamespaceCondition")), phase: STRING },
  "kubernetes.NamespaceMetadata": {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: texts,
  },
  "kubernetes.Namespace": {
    metadata: structType("kubernetes.NamespaceMetadata"),
    spec: structType("kubernetes.NamespaceSpec"),
    status: structType("kubernetes.NamespaceStatus"),
  },
};

function tableProvider(table: Readonly<Record<string, Fields>>): TypeProvider {
  const fieldsOf = (name: string): Fields | undefined => (Object.hasOwn(table, name) ? table[name] : undefined);
  return {
    findType: (name) => (fieldsOf(name) === undefined ? undefined : structType(name)),
    findField: (typeName, field) => {
      const fields = fieldsOf(typeName);
      const type = fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
      return type === undefined ? undefined : { type };
    },
    fieldNames: (typeName) => Object.keys(fieldsOf(typeName) ?? {}),
  };
}

const requestTypes = tableProvider(structs);

export interface PolicyEnvironmentOptions {
  readonly hasParams?: boolean;
  readonly hasAuthorizer?: boolean;
  /** `Object{…}` and `JSONPatch{…}` can be built. */
  readonly mutations?: boolean;
  /** The fields of `variables`, by what was compiled before. */
  readonly variables?: Readonly<Record<string, Type>>;
  /** The type of `object` and `oldObject`, where a schema is known; Kubernetes itself has none here. */
  readonly object?: { readonly type: Type; readonly types: TypeProvider };
  readonly dialect?: Dialect;
}

/** What expressions of admission policies see. */
export function policyEnvironment(options: PolicyEnvironmentOptions = {}): Environment {
  const objectType = options.object?.type ?? DYN;
  const composed = tableProvider({ "kubernetes.variables": options.variables ?? {} });
  return kubernetesEnvironment({
    variables: {
      object: objectType,
      oldObject: objectType,
      request: structType("kubernetes.AdmissionRequest"),
      namespaceObject: structType("kubernetes.Namespace"),
      ...(options.variables === undefined ? {} : { variables: structType("kubernetes.variables") }),
      ...(options.hasParams === true ? { params: DYN } : {}),
      ...(options.hasAuthorizer === true ? authorizerVariables : {}),
    },
    types: [
      requestTypes,
      composed,
      ...(options.object === undefined ? [] : [options.object.types]),
      ...(options.mutations === true ? [mutationTypes] : []),
    ],
    libraries: options.mutations === true ? [jsonPatchLibrary] : [],
    dialect: options.dialect ?? "strict",
  });
}
