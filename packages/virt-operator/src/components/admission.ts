import {
  mutatingWebhooks,
  subresourceGroup,
  subresourceVersions,
  validatingWebhooks,
  virtApiService,
} from "@polyvirt/api";
import type {
  APIService,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";

type WebhookRow = (typeof mutatingWebhooks)[number] | (typeof validatingWebhooks)[number];

/** What makes the API server call virt-api. Applied only once virt-api answers, because webhooks fail closed. */
export function admissionObjects(
  installation: Installation,
  caBundle: string,
): (MutatingWebhookConfiguration | ValidatingWebhookConfiguration | APIService)[] {
  const encodedBundle = Buffer.from(caBundle).toString("base64");
  const register = (row: WebhookRow): ValidatingWebhook => webhook(installation, row, encodedBundle);
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: ownMetadata(installation, "virt-api-mutator"),
      webhooks: mutatingWebhooks.map((row) => ({ ...register(row), reinvocationPolicy: "Never" })),
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: ownMetadata(installation, "virt-api-validator"),
      webhooks: validatingWebhooks.map(register),
    },
    ...subresourceVersions.map((version, index) => apiService(installation, version, index, encodedBundle)),
  ];
}

function apiService(installation: Installation, version: string, rank: number, caBundle: string): APIService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: ownMetadata(installation, `${version}.${subresourceGroup}`),
    spec: {
      group: subresourceGroup,
      version,
      groupPriorityMinimum: 1000,
      // Clients that do not care get the first of our versions.
      versionPriority: 15 - rank,
      service: { name: virtApiService, namespace: installation.namespace, port: 443 },
      caBundle,
    },
  };
}

function webhook(installation: Installation, row: WebhookRow, caBundle: string): ValidatingWebhook {
  return {
    name: row.name,
    clientConfig: {
      service: { name: virtApiService, namespace: installation.namespace, path: row.path, port: 443 },
      caBundle,
    },
    rules: [
      {
        operations: [...row.operations],
        apiGroups: [row.group],
        apiVersions: [...row.versions],
        resources: [...row.resources],
        scope: "*",
      },
    ],
    failurePolicy: "optional" in row && row.optional ? "Ignore" : "Fail",
    matchPolicy: "Equivalent",
    sideEffects: "None",
    timeoutSeconds: 10,
    admissionReviewVersions: ["v1"],
  };
}
