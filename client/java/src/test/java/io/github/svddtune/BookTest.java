package io.github.svddtune;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.github.svddtune.v1.Ack;
import io.github.svddtune.v1.Answer;
import io.github.svddtune.v1.Assign;
import io.github.svddtune.v1.ConverseRequest;
import io.github.svddtune.v1.ConverseResponse;
import io.github.svddtune.v1.Drain;
import io.github.svddtune.v1.Finished;
import io.github.svddtune.v1.Reject;
import io.github.svddtune.v1.Release;
import io.github.svddtune.v1.Revoke;
import io.github.svddtune.v1.Session;
import io.github.svddtune.v1.Verdict;
import io.github.svddtune.v1.Welcome;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BookTest {
  private static final String SESSION = "sessions/s";

  private final Book book = new Book(Labeler.Options.of("rule", SESSION));
  private final ArrayDeque<ConverseRequest> sent = new ArrayDeque<>();

  @BeforeEach
  void connect() {
    sent.clear();
    book.hello(sent::add);
    assertTrue(sent.remove().hasHello());
    var welcome = Welcome.newBuilder().setResumeToken("token");
    book.receive(ConverseResponse.newBuilder().setWelcome(welcome).build());
  }

  private void assign(int query, String lease) {
    var assign = Assign.newBuilder().setSession(SESSION).setQuery(query).setLeaseId(lease);
    book.receive(ConverseResponse.newBuilder().setAssign(assign).build());
  }

  private CompletableFuture<Ack> answer(Assign query) {
    var answer =
        Answer.newBuilder()
            .setSession(query.getSession())
            .setQuery(query.getQuery())
            .setLeaseId(query.getLeaseId())
            .setVerdict(Verdict.VERDICT_INLIER);
    return book.submit(ConverseRequest.newBuilder().setAnswer(answer));
  }

  private void ack(Ack.Builder ack) {
    book.receive(ConverseResponse.newBuilder().setAck(ack).build());
  }

  @Test
  void answerWithoutAckIsSentAgainWithTheSameIdsUntilItsAck() throws Exception {
    assign(1, "lease");
    var settled = answer(book.take());
    ConverseRequest first = sent.remove();
    connect();
    assertEquals(first, sent.remove());
    assertFalse(settled.isDone());
    ack(Ack.newBuilder().setRequestId(first.getRequestId()).setQuery(1));
    assertEquals(1, settled.get().getQuery());
    connect();
    assertTrue(sent.isEmpty());
  }

  @Test
  void helloOfTheNextStreamCarriesTheResumeToken() {
    book.hello(sent::add);
    assertEquals("token", sent.remove().getHello().getResumeToken());
  }

  @Test
  void queryThatIsAssignedAgainIsAskedOnce() {
    assign(1, "lease");
    assign(1, "lease");
    assertNotNull(book.take());
    assign(1, "lease");
    assertNull(book.take());
    assign(1, "another lease");
    assertEquals("another lease", book.take().getLeaseId());
  }

  @Test
  void heartbeatNamesOpenLeasesAndLostOnesAreDropped() {
    assign(1, "answered");
    assign(2, "kept");
    assign(3, "lost");
    answer(book.take());
    sent.remove();
    book.extend();
    var named = Set.copyOf(sent.remove().getExtend().getLeaseIdsList());
    assertEquals(Set.of("kept", "lost"), named);
    ack(Ack.newBuilder().setRequestId("heartbeat").addLostLeaseIds("lost"));
    assertEquals("kept", book.take().getLeaseId());
    assertNull(book.take());
  }

  @ParameterizedTest
  @CsvSource({"INVALID_FIELD, true", "LEASE_LOST, false"})
  void refusedAnswerFailsWithItsReasonAndKeepsTheQueryIfItCanBeAnswered(
      String reason, boolean held) {
    assign(1, "lease");
    var settled = answer(book.take());
    var info = Any.pack(ErrorInfo.newBuilder().setReason(reason).build());
    var reject =
        Reject.newBuilder()
            .setRequestId(sent.remove().getRequestId())
            .setStatus(com.google.rpc.Status.newBuilder().setCode(9).addDetails(info));
    book.receive(ConverseResponse.newBuilder().setReject(reject).build());
    var failed = assertThrows(ExecutionException.class, settled::get);
    assertEquals(reason, ((SvddtuneException) failed.getCause()).reason());
    book.extend();
    assertEquals(held, !sent.isEmpty());
  }

  @Test
  void queryThatIsGivenBackIsNotAskedAgainAndForgottenWithTheAck() {
    assign(1, "lease");
    Assign query = book.take();
    var release = Release.newBuilder().addLeaseIds("lease");
    book.submit(ConverseRequest.newBuilder().setRelease(release));
    assign(1, "lease");
    assertNull(book.take());
    assertTrue(book.isHeld(query));
    ack(Ack.newBuilder().setRequestId(sent.remove().getRequestId()));
    assertFalse(book.isHeld(query));
  }

  @Test
  void revokedQueryIsNotAsked() {
    assign(1, "lease");
    var revoke = Revoke.newBuilder().setLeaseId("lease");
    book.receive(ConverseResponse.newBuilder().setRevoke(revoke).build());
    assertNull(book.take());
  }

  @Test
  void itemOfALaterVersionIsIgnored() {
    book.receive(ConverseResponse.getDefaultInstance());
    book.receive(ConverseResponse.newBuilder().setDrain(Drain.getDefaultInstance()).build());
    assertTrue(book.draining);
  }

  @Test
  void dialogueIsIdleOnceItsSessionIsFinishedAndAllAnswersAreStored() {
    assign(1, "lease");
    answer(book.take());
    var finished = Finished.newBuilder().setSession(Session.newBuilder().setName(SESSION));
    book.receive(ConverseResponse.newBuilder().setFinished(finished).build());
    assertTrue(book.isFinished());
    assertFalse(book.isIdle());
    ack(Ack.newBuilder().setRequestId(sent.remove().getRequestId()));
    assertTrue(book.isIdle());
  }

  @Test
  void closedDialogueRefusesItems() {
    assign(1, "lease");
    var query = book.take();
    var waiting = answer(query);
    book.fail(Book.closed());
    for (var refused : new CompletableFuture<?>[] {waiting, answer(query)}) {
      var failed = assertThrows(ExecutionException.class, refused::get);
      assertEquals("CLIENT_CLOSED", ((SvddtuneException) failed.getCause()).reason());
    }
  }

  @Test
  void idOfAnItemWithoutAckIsRefusedForAnother() {
    var answer = Answer.newBuilder().setAnswerId("mine").setObservationId("7");
    book.submit(ConverseRequest.newBuilder().setAnswer(answer));
    var refused = book.submit(ConverseRequest.newBuilder().setAnswer(answer.setObservationId("8")));
    var failed = assertThrows(ExecutionException.class, refused::get);
    assertEquals("ANSWER_ID_REUSED", ((SvddtuneException) failed.getCause()).reason());
  }
}
