import type { mutatingWebhooks, validatingWebhooks } from "@polyvirt/api";
import type { AdmissionRequest, AdmissionReview } from "@polyvirt/api/k8s";
import { isJsonObject } from "@polyvirt/core";
import { Refusal } from "../server/status.ts";
import type { AdmissionContext, Admitter } from "./admission.ts";
import { mutateInstance } from "./mutate-instance.ts";
import { refuseMachine, refuseUnserved } from "./unserved.ts";
import { validateInstanceCreate, validateInstanceUpdate } from "./validate-instance.ts";
import { validateKubeVirt } from "./validate-kubevirt.ts";
import { validatePreset } from "./validate-preset.ts";

type WebhookPath = (typeof mutatingWebhooks)[number]["path"] | (typeof validatingWebhooks)[number]["path"];

/** Which rules serve which path. The compiler sees to it that every registered path has its rules. */
const admitters: Readonly<Record<WebhookPath, Admitter>> = {
  "/virtualmachineinstances-mutate": mutateInstance,
  "/virtualmachineinstances-validate-create": validateInstanceCreate,
  "/virtualmachineinstances-validate-update": validateInstanceUpdate,
  "/kubevirt-validate": validateKubeVirt,
  "/virtualmachines-validate": refuseMachine,
  "/virtualmachinereplicaset-validate": refuseUnserved,
  "/migration-validate-create": refuseUnserved,
  "/vmipreset-validate": validatePreset,
  "/plugin-validate": refuseUnserved,
};

const byPath = new Map<string, Admitter>(Object.entries(admitters));

export function isWebhookPath(path: string): boolean {
  return byPath.has(path);
}

/** Answers the review that the API server posted to one of our paths. */
export function answerReview(path: string, body: unknown, context: AdmissionContext): AdmissionReview {
  const admitter = byPath.get(path);
  if (admitter === undefined) throw new Refusal(404, `there is no webhook at ${path}`);
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: admitter(readRequest(body), context),
  };
}

function readRequest(body: unknown): AdmissionRequest<never> {
  if (!isJsonObject(body) || body["apiVersion"] !== "admission.k8s.io/v1" || body["kind"] !== "AdmissionReview") {
    throw new Refusal(400, "the body is not an AdmissionReview of admission.k8s.io/v1");
  }
  const request = body["request"];
  if (!isJsonObject(request) || typeof request["uid"] !== "string" || !isJsonObject(request["kind"])) {
    throw new Refusal(400, "the AdmissionReview has no request");
  }
  // The API server is the only caller; it has checked the object against the schema that its type is generated from.
  return request as unknown as AdmissionRequest<never>;
}
