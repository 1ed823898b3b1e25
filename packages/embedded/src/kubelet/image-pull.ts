import type { ImagePullPolicy } from "@polyvirt/api/k8s";
import { PolyvirtError } from "@polyvirt/core";
import type { ErrorKind } from "@polyvirt/core";
import { imageErrorKinds } from "../images/errors.ts";
import type { NodeContext } from "./node-context.ts";
import type { ContainerRecord, PodRecord } from "./pod-record.ts";

const firstRetryMs = 10_000;
const lastRetryMs = 300_000;
const imageCodes: Readonly<Record<string, ErrorKind>> = imageErrorKinds;

/** How long to wait after the given number of failures: 10 s, 20 s … 5 min. */
export function retryDelay(failures: number): number {
  return Math.min(firstRetryMs * 2 ** failures, lastRetryMs);
}

/** Whether an image could not be had, as opposed to any other failure of a volume. */
export function isImageProblem(error: unknown): error is PolyvirtError {
  return error instanceof PolyvirtError && error.code in imageCodes;
}

/** Why an image cannot be had, and what the pod allows to do about it. */
export interface ImageProblem {
  readonly reference: string;
  readonly problem: string;
  /** The text is no image reference: looking again does not help. */
  readonly invalid?: boolean;
  readonly pullPolicy?: ImagePullPolicy;
}

/** Makes a container wait for its image, with Kubernetes' reasons and events. */
export function waitForImage(
  { events, clock }: Pick<NodeContext, "events" | "clock">,
  record: PodRecord,
  known: ContainerRecord,
  image: ImageProblem,
): void {
  const again = known.failures++ > 0;
  const { reason, message, told } = describeProblem(image, again);
  for (const [type, eventReason, text] of told) events.record(record.pod, type, eventReason, text);
  events.record(record.pod, "Warning", "Failed", `Error: ${reason}`);
  known.waiting = { reason, message, until: clock.now() + retryDelay(known.failures - 1) };
}

type Told = readonly ["Normal" | "Warning", reason: string, message: string];

/** ErrImagePull first and ImagePullBackOff from then on, unless the pod forbids to pull or names no image at all. */
function describeProblem(
  { reference, problem, invalid, pullPolicy }: ImageProblem,
  again: boolean,
): { reason: string; message: string; told: Told[] } {
  if (invalid === true) {
    const message = `Failed to apply default image tag "${reference}": couldn't parse image name: ${problem}`;
    return { reason: "InvalidImageName", message, told: [["Warning", "InspectFailed", message]] };
  }
  if (pullPolicy === "Never") {
    const message = `Container image "${reference}" is not present with pull policy of Never: ${problem}`;
    return { reason: "ErrImageNeverPull", message, told: [["Warning", "ErrImageNeverPull", message]] };
  }
  if (again) {
    const message = `Back-off pulling image "${reference}": ErrImagePull: ${problem}`;
    return {
      reason: "ImagePullBackOff",
      message,
      told: [["Normal", "BackOff", `Back-off pulling image "${reference}"`]],
    };
  }
  const failed = `Failed to pull image "${reference}": ${problem}`;
  return { reason: "ErrImagePull", message: problem, told: [["Warning", "Failed", failed]] };
}

const imageReasons = new Set(["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull"]);

/** Whether a container waits for an image that somebody may add. */
export function waitsForImage(known: ContainerRecord): boolean {
  return imageReasons.has(known.waiting?.reason ?? "");
}
