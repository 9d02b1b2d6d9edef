// A labeler that answers by a rule. Run it with: node labeler.js HOST:PORT SESSION
// npm install @grpc/grpc-js @grpc/proto-loader google-proto-files
const { randomUUID } = require('crypto');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const path = require('path');

const [address, session] = process.argv.slice(2);
const protos = path.join(__dirname, '..', '..', 'protos');
const googleapis = path.join(require.resolve('google-proto-files/package.json'), '..');
const definition = loader.loadSync('svddtune/v1/oracle.proto', {
  includeDirs: [protos, googleapis], enums: String, oneofs: true,
});
const { OracleService } = grpc.loadPackageDefinition(definition).svddtune.v1;
const oracle = new OracleService(address, grpc.credentials.createInsecure());

const { UNAVAILABLE, OK, CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN } = grpc.status;
const PASSING = [UNAVAILABLE, OK, CANCELLED, DEADLINE_EXCEEDED, INTERNAL, UNKNOWN];
const answers = new Map(); // by query: not yet acknowledged, so sent again after a reconnect
let resumeToken = '';
let waitMs = 100;

function converse() {
  let finished = false;
  const stream = oracle.Converse();
  const hear = {
    welcome(welcome) {
      resumeToken = welcome.resumeToken;
      waitMs = 100;
      answers.forEach((answer) => stream.write({ answer })); // a repeated answer counts once
    },
    assign({ query, leaseId, features }) {
      if (answers.has(query)) return;
      const verdict = Math.max(...features) > 1 ? 'VERDICT_OUTLIER' : 'VERDICT_INLIER';
      answers.set(query, { answerId: randomUUID(), query, leaseId, verdict });
      stream.write({ answer: answers.get(query) });
    },
    ack: ({ query }) => answers.delete(query),
    reject({ query, status }) {
      console.error(status.message);
      answers.delete(query);
    },
    drain: () => stream.end(), // the server shuts down; the next stream resumes
    finished({ reason }) {
      console.log(`finished: ${reason.replace('FINISH_REASON_', '')}`);
      finished = true;
      stream.end();
    },
  };
  stream.on('data', ({ message, ...body }) => hear[message]?.(body[message]));
  stream.on('error', () => {}); // 'status' follows
  stream.on('status', ({ code, details }) => {
    if (!finished && PASSING.includes(code)) {
      setTimeout(converse, waitMs);
      waitMs = Math.min(2 * waitMs, 5000);
      return;
    }
    if (!finished) {
      console.error(details);
      process.exitCode = 1;
    }
    oracle.close();
  });
  const hello = {
    minProtocolVersion: 1, labeler: 'rule', sessions: [session], credit: 1, resumeToken,
  };
  stream.write({ hello });
}
converse();
