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

/** Makes a container wait for its image, in Kubernetes' words: ErrImagePull first, ImagePullBackOff from then on. */
export function waitForImage(
  { events, clock }: Pick<NodeContext, "events" | "clock">,
  record: PodRecord,
  known: ContainerRecord,
  image: { readonly reference: string; readonly problem: string },
): void {
  const { reference, problem } = image;
  const until = clock.now() + retryDelay(known.failures++);
  if (known.failures === 1) {
    events.record(record.pod, "Warning", "Failed", `Failed to pull image "${reference}": ${problem}`);
    events.record(record.pod, "Warning", "Failed", "Error: ErrImagePull");
    known.waiting = { reason: "ErrImagePull", message: problem, until };
  } else {
    events.record(record.pod, "Normal", "BackOff", `Back-off pulling image "${reference}"`);
    events.record(record.pod, "Warning", "Failed", "Error: ImagePullBackOff");
    const message = `Back-off pulling image "${reference}": ErrImagePull: ${problem}`;
    known.waiting = { reason: "ImagePullBackOff", message, until };
  }
}

/** Whether a container waits for an image that somebody may add. */
export function waitsForImage(known: ContainerRecord): boolean {
  return known.waiting?.reason === "ErrImagePull" || known.waiting?.reason === "ImagePullBackOff";
}
