/** For tests: the node agent's side of a launcher, a Notify server that remembers and a Cmd client. */
import {
  cmdInfo,
  cmdV1,
  createGrpcClient,
  createGrpcServer,
  decodeDomainDocument,
  grpcService,
  notifyInfo,
  notifyV1,
  type DomainDocument,
  type GrpcClient,
} from "@polyvirt/protocol";

interface Notification {
  readonly type: string;
  readonly domain: DomainDocument;
}

export class FakeHandler {
  readonly notifications: Notification[] = [];
  readonly cmd: GrpcClient<typeof cmdV1.Cmd>;
  readonly info: GrpcClient<typeof cmdInfo.CmdInfo>;
  /** Answers of Notify: throw to be a node agent in trouble. */
  beforeAnswer: () => void = () => {};
  readonly #server = createGrpcServer([
    grpcService(notifyInfo.NotifyInfo, { info: async () => ({ supportedNotifyVersions: [1] }) }),
    grpcService(notifyV1.Notify, {
      handleDomainEvent: async ({ domainJSON, eventType }) => {
        this.beforeAnswer();
        this.notifications.push({ type: eventType, domain: decodeDomainDocument(domainJSON) });
        return { success: true };
      },
    }),
  ]);

  constructor(commandSocket: string) {
    this.cmd = createGrpcClient(cmdV1.Cmd, `unix:${commandSocket}`, { timeoutMs: 20_000 });
    this.info = createGrpcClient(cmdInfo.CmdInfo, `unix:${commandSocket}`);
  }

  listen(notifySocket: string): Promise<void> {
    return this.#server.listen(`unix:${notifySocket}`);
  }

  /** What was told, in short. */
  told(): string[] {
    return this.notifications.map(({ type, domain: { Status } }) => `${type} ${Status.Status}/${Status.Reason}`);
  }

  async close(): Promise<void> {
    this.cmd.close();
    this.info.close();
    await this.#server.close(100);
  }
}
