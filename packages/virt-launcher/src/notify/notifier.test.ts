import { describe, expect, it } from "vitest";
import { PolyvirtError, silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import type { DomainDocument } from "@polyvirt/protocol";
import { Notifier, type NotifyChannel } from "./notifier.ts";

type Status = DomainDocument["Status"]["Status"];

function domain(state: Status): DomainDocument {
  return {
    kind: "Domain",
    apiVersion: "kubevirt.io/v1",
    ObjectMeta: { name: "a", namespace: "b", uid: "u" },
    Spec: { Name: "b_a" },
    Status: { Status: state, Reason: "Unknown" },
  };
}

const unavailable = (): Error => new PolyvirtError("ProtocolUnavailable", "nobody", { retry: true });

/** A node agent whose answers the test decides, one by one. */
function setup() {
  const received: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const receive = (what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      received.push(what);
      answers.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  const channel: NotifyChannel = {
    sendDomain: (type, { Status: { Status: state } }) => receive(`${type} ${state}`),
    sendEvent: (event) => receive(`event ${JSON.stringify(event)}`),
    close() {},
  };
  const clock = createManualClock();
  const notifier = new Notifier({ channel, clock, logger: silentLogger });
  const answer = async (error?: Error): Promise<void> => {
    answers.shift()?.(error);
    await clock.advance(0);
  };
  return { notifier, clock, received, answer };
}

describe("Notifier", () => {
  it("announces the machine first and changes afterwards", async () => {
    const { notifier, received, answer } = setup();
    notifier.publish(domain("Paused"));
    await answer();
    notifier.publish(domain("Running"));
    await answer();
    expect(received).toEqual(["ADDED Paused", "MODIFIED Running"]);
    expect(await notifier.flush(1)).toBe(true);
  });

  it("skips states that were overtaken while one was on its way", async () => {
    const { notifier, received, answer } = setup();
    notifier.publish(domain("Paused"));
    notifier.publish(domain("Running"));
    notifier.publish(domain("ShuttingDown"));
    notifier.publish(domain("Shutoff"));
    await answer();
    await answer();
    expect(received).toEqual(["ADDED Paused", "MODIFIED Shutoff"]);
  });

  it("tells the end before the deletion, however slow the agent is", async () => {
    const { notifier, received, answer } = setup();
    notifier.publish(domain("Running"));
    notifier.publish(domain("Shutoff"));
    notifier.publishDeleted(domain("Shutoff"));
    for (let count = 0; count < 3; count += 1) await answer();
    expect(received).toEqual(["ADDED Running", "MODIFIED Shutoff", "DELETED Shutoff"]);
  });

  it("tries again until the agent answers, with the newest state, and waits longer each time", async () => {
    const { notifier, clock, received, answer } = setup();
    notifier.publish(domain("Paused"));
    await answer(unavailable());
    notifier.publish(domain("Running"));
    await clock.advance(49);
    expect(received).toHaveLength(1);
    await clock.advance(1);
    await answer(unavailable());
    await clock.advance(100);
    await answer();
    expect(received).toEqual(["ADDED Paused", "ADDED Running", "ADDED Running"]);
  });

  it("does not hold on to what the agent refuses", async () => {
    const { notifier, received, answer } = setup();
    notifier.publish(domain("Running"));
    await answer(new PolyvirtError("LauncherNotifyRefused", "not yours", { retry: false }));
    notifier.publish(domain("Shutoff"));
    await answer();
    expect(received).toEqual(["ADDED Running", "MODIFIED Shutoff"]);
  });

  it("keeps events in order, and behind states", async () => {
    const { notifier, received, answer } = setup();
    notifier.publishEvent({ n: 1 });
    notifier.publishEvent({ n: 2 });
    notifier.publish(domain("Running"));
    await answer(unavailable());
    expect(received).toEqual(['event {"n":1}']);
  });

  it("says when not everything was told in time", async () => {
    const { notifier, clock } = setup();
    notifier.publish(domain("Running"));
    const flushed = notifier.flush(1_000);
    await clock.advance(1_000);
    expect(await flushed).toBe(false);
  });

  it("waits less from the moment that somebody is in a hurry", async () => {
    const { notifier, clock } = setup();
    notifier.publish(domain("Running"));
    const hurry = new AbortController();
    let flushed: boolean | undefined;
    void notifier.flush(30_000, { signal: hurry.signal, limitMs: 5_000 }).then((heard) => (flushed = heard));
    await clock.advance(10_000);
    hurry.abort();
    await clock.advance(4_999);
    expect(flushed).toBeUndefined();
    await clock.advance(1);
    expect(flushed).toBe(false);
    expect(clock.pendingTimers()).toBe(0);
  });

  it("stops trying when it is closed", async () => {
    const { notifier, clock, received, answer } = setup();
    notifier.publish(domain("Running"));
    await answer(unavailable());
    notifier.close();
    await clock.advance(10_000);
    expect(received).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });
});
