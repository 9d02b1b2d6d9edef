package io.github.svddtune;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.svddtune.v1.UploadDatasetRequest;
import java.io.StringReader;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableTest {
  @Test
  void csvWithIdsIsRead() throws Exception {
    var text = "id,a,b\nx,1,2.5\n\"y, z\",-3e2,0\n";
    Table table = Table.parseCsv(new StringReader(text), "id");
    assertEquals(List.of("a", "b"), table.featureNames());
    assertEquals(List.of("x", "y, z"), table.ids());
    assertArrayEquals(new double[] {1, 2.5}, table.rows().get(0));
    assertArrayEquals(new double[] {-300, 0}, table.rows().get(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a,b\n1,2\n3,four\n", "a,b\n1,2\n3,NaN\n"})
  void valueThatIsNoNumberIsNamedWithItsPlace(String text) {
    var error =
        assertThrows(
            SvddtuneException.class, () -> Table.parseCsv(new StringReader(text), null));
    assertEquals("INVALID_CSV", error.reason());
    assertTrue(error.getMessage().contains("line 3, column \"b\""), error.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"a,b\n1,2\n3\n", "a,a\n1,2\n", "a,b\n1,\"2\n"})
  void damagedCsvIsRefused(String text) {
    var error =
        assertThrows(
            SvddtuneException.class, () -> Table.parseCsv(new StringReader(text), null));
    assertEquals("INVALID_CSV", error.reason());
  }

  @Test
  void largeTableIsSentInMessagesBelowTheLimit() {
    var rows = Collections.nCopies(200_000, new double[] {1, 2});
    var messages = new Table(List.of("a", "b"), List.of(), rows).messages("large");
    assertTrue(messages.size() > 2);
    assertTrue(messages.stream().allMatch(one -> one.getSerializedSize() < 1 << 20));
    var chunks = messages.stream().filter(UploadDatasetRequest::hasChunk);
    assertEquals(200_000, chunks.mapToInt(one -> one.getChunk().getRows().getRows()).sum());
  }

  @Test
  void valuesAreSentAsLittleEndianDoublesRowByRow() {
    var rows = List.of(new double[] {1, 2}, new double[] {3, 4});
    var bytes = Table.matrix(rows).getValues().asReadOnlyByteBuffer();
    var values = new double[4];
    bytes.order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(values);
    assertArrayEquals(new double[] {1, 2, 3, 4}, values);
  }
}
