import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Client as Stub, Code, createClient, type Transport } from "@connectrpc/connect";

import { renewable, SvddtuneError, toError } from "./errors.js";
import type { SessionConfigSchema } from "./gen/svddtune/v1/config_pb.js";
import { type Dataset, DatasetHeaderSchema, DatasetService } from "./gen/svddtune/v1/dataset_pb.js";
import { OracleService } from "./gen/svddtune/v1/oracle_pb.js";
import type { TuningResult } from "./gen/svddtune/v1/result_pb.js";
import { type RowScore, ScoringService } from "./gen/svddtune/v1/scoring_pb.js";
import { ServerService } from "./gen/svddtune/v1/server_pb.js";
import { type Session, SessionState, TuningService } from "./gen/svddtune/v1/tuning_pb.js";
import { Dialogue } from "./labeler.js";
import { Pause } from "./pause.js";
import { matrix, type Table, uploadMessages } from "./table.js";
import { reliable } from "./transport.js";
import type { Decide, Labeler } from "./verdict.js";

/** How long to try again after an error that passes. */
const PATIENCE_MS = 600_000;

/** A connection to a service. In Node.js, `connect` of "@svddtune/client/node" makes one. */
export class Client {
  /** The generated calls. Their errors are SvddtuneErrors. */
  readonly datasets: Stub<typeof DatasetService>;
  readonly tuning: Stub<typeof TuningService>;
  readonly oracle: Stub<typeof OracleService>;
  readonly server: Stub<typeof ServerService>;
  readonly scoring: Stub<typeof ScoringService>;

  /**
   * @param transport Any transport of Connect, e.g. that of "@connectrpc/connect-web" in browsers.
   * @param close Closes the transport.
   */
  constructor(
    transport: Transport,
    readonly close: () => void = () => {},
  ) {
    const typed = reliable(transport);
    this.datasets = createClient(DatasetService, typed);
    this.tuning = createClient(TuningService, typed);
    this.oracle = createClient(OracleService, typed);
    this.server = createClient(ServerService, typed);
    this.scoring = createClient(ScoringService, typed);
  }

  /**
   * Stores a table. If the connection breaks, it continues with the rows that have not arrived. The same
   * content is stored once.
   */
  async upload(table: Table, signal?: AbortSignal): Promise<Dataset> {
    const uploadId = crypto.randomUUID();
    const header = create(DatasetHeaderSchema, {
      displayName: table.displayName ?? "",
      observationCount: table.rows.length,
      featureCount: table.rows[0]?.length ?? 0,
      featureNames: [...(table.names ?? [])],
      uploadId,
    });
    const options = signal ? { signal } : {};
    const pause = new Pause(PATIENCE_MS);
    for (let first = 0; ; ) {
      try {
        const { dataset } = await this.datasets.uploadDataset(uploadMessages(header, table, first), options);
        return dataset!;
      } catch (error) {
        await pause.after(toError(error), signal);
      }
      try {
        const stored = await this.datasets.getUpload({ uploadId }, options);
        if (stored.dataset) return stored.dataset;
        first = stored.rowCount;
      } catch (cause) {
        const error = toError(cause);
        if (error.reason === "UPLOAD_NOT_FOUND") first = 0;
        else if (!error.temporary) throw error;
      }
    }
  }

  /** Creates a session on a dataset. Calls that are repeated create one session. */
  async createSession(
    dataset: string,
    config: MessageInitShape<typeof SessionConfigSchema> = {},
  ): Promise<Session> {
    const request = { dataset, config, requestId: crypto.randomUUID() };
    return (await this.tuning.createSession(request)).session!;
  }

  /**
   * Answers queries until all named sessions have finished; rejects with the signal's reason once it is
   * aborted. It holds one stream at a time and opens another if it breaks or the service restarts. A
   * verdict is sent again with the same answer id until it is acknowledged, so that it counts once.
   */
  async label(labeler: Labeler, decide: Decide, signal?: AbortSignal): Promise<void> {
    await new Dialogue(this.oracle, labeler, decide).run(signal);
  }

  /**
   * Waits until a session is completed and returns its latest result. It continues after a restart of
   * the service. It throws the reason of a session that fails, or SESSION_CANCELLED.
   */
  async result(session: string, signal?: AbortSignal): Promise<TuningResult> {
    const done = await this.#completed(session, signal);
    const request = { name: done.latestResult };
    return (await this.tuning.getResult(request, signal ? { signal } : {})).result!;
  }

  /**
   * Judges rows by a model: the name of a result, or of an uploaded model. It takes up to 10,000 rows; for
   * more, and for reasons, use `scoring`.
   */
  async score(model: string, rows: readonly (readonly number[])[], signal?: AbortSignal): Promise<RowScore[]> {
    if (rows.length === 0) return [];
    const request = { model, matrix: matrix(rows) };
    return (await this.scoring.score(request, signal ? { signal } : {})).scores;
  }

  async #completed(name: string, signal?: AbortSignal): Promise<Session> {
    const pause = new Pause(PATIENCE_MS);
    for (let resumeToken = ""; ; ) {
      let failure: SvddtuneError | undefined;
      let served = false;
      try {
        const stream = this.tuning.watchSession({ name, resumeToken }, signal ? { signal } : {});
        for await (const seen of stream) {
          resumeToken = seen.resumeToken;
          served = true;
          pause.reset();
          const session = seen.session!;
          if (session.state === SessionState.COMPLETED) return session;
          if (session.state === SessionState.CANCELLED) {
            throw noResult(`${name} was cancelled`, "SESSION_CANCELLED");
          }
          if (session.state === SessionState.FAILED) {
            throw noResult(session.failure?.message ?? "", session.failure?.reason ?? "");
          }
        }
      } catch (error) {
        failure = renewable(toError(error), served);
      }
      await pause.after(failure, signal);
    }
  }
}

function noResult(message: string, reason: string): SvddtuneError {
  return new SvddtuneError(message, Code.FailedPrecondition, reason);
}
