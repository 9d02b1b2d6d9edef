package svddtune

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadCSVTakesTheIdColumnApart(t *testing.T) {
	table, err := ReadCSV(strings.NewReader("cpu,id,errors\n0.25,a,1\n1e-3,\"b,c\",2\n"), "id")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Names, []string{"cpu", "errors"}) || !slices.Equal(table.IDs, []string{"a", "b,c"}) {
		t.Errorf("names %q, ids %q", table.Names, table.IDs)
	}
	if !slices.Equal(table.Rows[0], []float64{0.25, 1}) || !slices.Equal(table.Rows[1], []float64{0.001, 2}) {
		t.Errorf("rows %v", table.Rows)
	}
}

func TestFaultyCSVIsRefusedWithItsPlace(t *testing.T) {
	for text, place := range map[string]string{
		"":                    "no header",
		"cpu\n1\n":            `no column "id"`,
		"id,cpu\na,1\nb,fast": `line 3, column "cpu": "fast"`,
		"id,cpu\na,1,2\n":     "malformed",
	} {
		_, err := ReadCSV(strings.NewReader(text), "id")
		var typed *Error
		if !errors.As(err, &typed) || typed.Reason != "INVALID_FIELD" || !strings.Contains(err.Error(), place) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMatrixIsLittleEndianRowByRow(t *testing.T) {
	got := NewMatrix([][]float64{{1, 2}, {-0.5, 0}})
	want := []byte{
		0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40,
		0, 0, 0, 0, 0, 0, 0xe0, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0,
	}
	if got.GetRows() != 2 || got.GetColumns() != 2 || !slices.Equal(got.GetValues(), want) {
		t.Errorf("got %v", got)
	}
}
