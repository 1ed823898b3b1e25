// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject } from "../k8s/meta.ts";

/** An extension of this installation. It may change machine definitions, act on nodes around a machine's life, and add admission rules for pods and machines. */
export interface Plugin extends KubeObject {
  /** What the plugin does, and to which machines. */
  spec: PluginSpec;
  /** Whether the plugin is in use, and why not. */
  status?: PluginStatus;
}

/** What a plugin does. Hooks may be written in either of the two shapes that their types describe. */
export interface PluginSpec {
  /** Version, order and failure behaviour of the plugin. */
  PluginMetadata?: PluginMetadata;
  /** CEL expression over vmi; where it is false no hook of the plugin runs. */
  condition?: string;
  /** What happens to the machine when a hook fails and the hook does not say. Fail when unset. */
  failureStrategy?: "Fail" | "Ignore";
  /** Machines that the plugin applies to; all of them when unset. */
  selector?: PluginSelector;
  /** Changes of the machine definition, run in this order. */
  domainHooks?: DomainHook[];
  /** Calls to a server on the machine's node. */
  nodeHooks?: NodeHook[];
  /** Admission rules for launcher pods. */
  podHooks?: PluginAdmissionHooks;
  /** Admission rules for machine instances. */
  vmiHooks?: PluginAdmissionHooks;
  /** Policies managed elsewhere that must be in place for the plugin to be ready. */
  mutatingAdmissionPolicies?: AdmissionReference[];
  /** Policies managed elsewhere that must be in place for the plugin to be ready. */
  validatingAdmissionPolicies?: AdmissionReference[];
  /** Webhooks managed elsewhere that must be in place for the plugin to be ready. */
  mutatingAdmissionWebhooks?: AdmissionReference[];
  /** Webhooks managed elsewhere that must be in place for the plugin to be ready. */
  validatingAdmissionWebhooks?: AdmissionReference[];
}

/** What is known about a plugin. */
export interface PluginStatus {
  /** The generation of the plugin that the conditions are about. */
  observedGeneration?: number;
  /** Ready, and what keeps the plugin from it. */
  conditions?: Condition[];
}

/** Identity, compatibility and order of a plugin. */
export interface PluginMetadata {
  /** Unique name of the plugin; metadata.name when unset. */
  name?: string;
  /** Version of the plugin. */
  version?: string;
  /** What happens when a hook fails. Fail blocks the operation, Ignore records the error and goes on. */
  failureStrategy?: "Fail" | "Ignore";
  /** How long a hook may take; 30s when unset. */
  timeout?: string;
  /** CEL expression over version, the version of this installation; the plugin is used only where it is true. */
  kubeVirtVersionCondition?: string;
  /** CEL expression over version, the version of libvirt; the plugin is used only where it is true. */
  libvirtVersionCondition?: string;
  /** Which image tag belongs to which version of this installation. */
  upgradePaths?: PluginUpgradePath[];
  /** Plugins that run before this one. Only then may both change the same field. */
  dependsOn?: string[];
  /** Paths of the machine definition that no other plugin may change. */
  preservePaths?: string | string[];
}

/** The plugin image for one version of this installation. */
export interface PluginUpgradePath {
  /** Version of this installation. */
  KubeVirtVersion?: number | string;
  /** Tag of the plugin's image. */
  pluginImageTag?: number | string;
}

/** Machines that a plugin applies to. All parts must match. */
export interface PluginSelector {
  /** Labels of the machine. */
  matchLabels?: Record<string, string>;
  /** Fields of the machine. */
  matchFields?: PluginFieldSelector[];
  /** CEL expressions over vmi. */
  conditions?: string[];
}

/** A test of one field of the machine. */
export interface PluginFieldSelector {
  /** Path of the field, for example metadata.name. */
  key: string;
  /** How it is compared, for example Equals, Prefix, In or Exists. */
  operator: string;
  /** What it is compared with. */
  value?: string;
  /** What it is compared with, for operators that take several. */
  values?: string[];
}

/** One change of the machine definition, as a JSON patch, a CEL expression or a call to a sidecar. */
export interface DomainHook {
  /** Which kind of change this is; unset when cel or sidecar is used. */
  type?: "JsonPatch" | "ApplyConfiguration" | "Plugin" | (string & {});
  /** The patch of a JsonPatch hook. */
  operations?: JsonPatchOperation[];
  /** The CEL expression of an ApplyConfiguration hook. */
  expression?: string;
  /** Socket of a Plugin hook's sidecar, below /var/run/kubevirt-plugin. */
  socketPath?: string;
  /** A CEL expression that yields the fields to change. */
  cel?: CELDomainHook;
  /** A sidecar of the launcher pod that changes the definition. */
  sidecar?: SidecarDomainHook;
  /** CEL expression over vmi; where it is false the hook does not run. */
  condition?: string;
  /** What happens when this hook fails; the plugin's strategy when unset. */
  failureStrategy?: "Fail" | "Ignore";
  /** How long this hook may take. */
  timeout?: string;
}

/** One operation of a JSON patch. */
export interface JsonPatchOperation {
  /** add, remove, replace, move, copy or test. */
  op: string;
  /** JSON pointer to what changes. */
  path: string;
  /** JSON pointer to what is moved or copied. */
  from?: string;
  /** What is added, put in place or expected. */
  value?: unknown;
}

/** A change of the machine definition as one CEL expression. */
export interface CELDomainHook {
  /** Yields an object with the fields to change. */
  expression: string;
}

/** A change of the machine definition by a sidecar of the launcher pod. */
export interface SidecarDomainHook {
  /** Socket that the sidecar serves, below /var/run/kubevirt-plugin/<plugin>. */
  socketPath: string;
}

/** Calls to a server on the machine's node, made by virt-handler. */
export interface NodeHook {
  /** Plugin, the only mode. */
  mode?: string;
  /** Socket of the server on the node. */
  socket: string;
  /** Points in a machine's life at which the server is called. */
  permittedHooks: ("PreVMStart" | "PostVMStart" | "PreVMStop" | "OnVMStop" | "PostVMStop" | "PreMigrationSource" | "PostMigrationSource" | "PreMigrationTarget" | "PostMigrationTarget" | (string & {}))[];
  /** CEL expression over vmi; where it is false the server is not called. */
  condition?: string;
  /** What happens when the call fails; the plugin's strategy when unset. */
  failureStrategy?: "Fail" | "Ignore";
  /** How long a call may take. */
  timeout?: string;
}

/** Admission rules of a plugin. An entry with only a name refers to an object managed elsewhere; others are made and removed with the plugin. */
export interface PluginAdmissionHooks {
  /** Rules that change objects. */
  MutatingAdmissionPolicies?: PluginAdmissionPolicy[];
  /** Rules that accept or refuse objects. */
  ValidatingAdmissionPolicies?: PluginAdmissionPolicy[];
  /** Webhooks managed elsewhere that change objects. */
  MutatingAdmissionWebhooks?: AdmissionReference[];
  /** Webhooks managed elsewhere that accept or refuse objects. */
  ValidatingAdmissionWebhooks?: AdmissionReference[];
}

/** One admission rule, or the name of a policy managed elsewhere. */
export interface PluginAdmissionPolicy {
  /** Policy managed elsewhere. */
  name?: string;
  /** CEL expressions that must all be true for the rule to apply. */
  matchConditions?: PluginMatchCondition[];
  /** Changes to apply. */
  mutations?: PluginMutation[];
  /** Checks to make. */
  validations?: PluginValidation[];
}

/** A condition of an admission rule. */
export interface PluginMatchCondition {
  /** Name of the condition in messages. */
  name?: string;
  /** CEL expression over object. */
  expression: string;
}

/** A change that an admission rule makes. */
export interface PluginMutation {
  /** Which of the two forms is used. */
  patchType: "ApplyConfiguration" | "JSONPatch" | (string & {});
  /** CEL expression that yields the fields to set. */
  applyConfiguration?: PluginExpression;
  /** CEL expression that yields a list of patch operations. */
  jsonPatch?: PluginExpression;
}

/** A check that an admission rule makes. */
export interface PluginValidation {
  /** CEL expression over object; false refuses it. */
  expression: string;
  /** What the user is told. */
  message?: string;
  /** CEL expression that yields the message. */
  messageExpression?: string;
  /** Machine-readable reason of the refusal. */
  reason?: string;
}

/** A CEL expression. */
export interface PluginExpression {
  /** The expression. */
  expression: string;
}

/** A policy or webhook managed elsewhere. */
export interface AdmissionReference {
  /** Name of the object. */
  name: string;
}
