package svddtune

import (
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/google/uuid"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

// Messages of an upload stay below 1 MiB.
const chunkBytes = 900_000

// Table is a dataset before it is uploaded.
type Table struct {
	// Names are those of the columns; empty if they have none.
	Names []string
	// Rows hold one value for each column.
	Rows [][]float64
	// IDs are those of the rows, unique; empty if the numbers of the rows are to be their ids.
	IDs []string
	// DisplayName is a name for people.
	DisplayName string
}

// ReadCSV reads a table whose first line names the columns. The column idColumn holds the ids of the
// rows; it may be empty. All other columns hold numbers.
func ReadCSV(from io.Reader, idColumn string) (*Table, error) {
	lines := csv.NewReader(from)
	header, err := lines.Read()
	if err != nil {
		return nil, invalid("the CSV file has no header: %v", err)
	}
	ids := slices.Index(header, idColumn)
	if ids < 0 && idColumn != "" {
		return nil, invalid("the CSV file has no column %q; it has %q", idColumn, header)
	}
	table := &Table{Names: slices.Clone(header)}
	if ids >= 0 {
		table.Names = slices.Delete(table.Names, ids, ids+1)
	}
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return table, nil
		}
		if err != nil {
			return nil, invalid("the CSV file is malformed: %v", err)
		}
		row := make([]float64, 0, len(table.Names))
		for i, text := range line {
			if i == ids {
				table.IDs = append(table.IDs, text)
				continue
			}
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				number, _ := lines.FieldPos(i)
				return nil, invalid("line %d, column %q: %q is not a number", number, header[i], text)
			}
			row = append(row, value)
		}
		table.Rows = append(table.Rows, row)
	}
}

// UploadCSV reads a table by [ReadCSV] and uploads it.
func (c *Client) UploadCSV(ctx context.Context, from io.Reader, idColumn string) (*pb.Dataset, error) {
	table, err := ReadCSV(from, idColumn)
	if err != nil {
		return nil, err
	}
	return c.Upload(ctx, table)
}

// Upload stores a table. If the connection breaks, it continues with the rows that have not arrived.
// The same content is stored once.
func (c *Client) Upload(ctx context.Context, table *Table) (*pb.Dataset, error) {
	if len(table.Rows) == 0 || len(table.IDs) != 0 && len(table.IDs) != len(table.Rows) {
		return nil, invalid("a table of %d rows and %d ids cannot be uploaded", len(table.Rows), len(table.IDs))
	}
	id := uuid.NewString()
	header := &pb.DatasetHeader{
		DisplayName: table.DisplayName, ObservationCount: uint32(len(table.Rows)),
		FeatureCount: uint32(len(table.Rows[0])), FeatureNames: table.Names, UploadId: &id,
	}
	first := 0
	for wait := (pause{patience: patience}); ; {
		dataset, err := c.uploadFrom(ctx, header, table, first)
		if err == nil {
			return dataset, nil
		}
		if err = wait.after(ctx, err); err != nil {
			return nil, err
		}
		stored, err := c.Datasets.GetUpload(ctx, &pb.GetUploadRequest{UploadId: id})
		if stored.GetDataset() != nil {
			return stored.GetDataset(), nil
		}
		if err != nil && !passes(err) && !hasReason(err, "UPLOAD_NOT_FOUND") {
			return nil, err
		}
		first = int(stored.GetRowCount()) // rows that have arrived already do no harm
	}
}

// uploadFrom sends the rows from first on.
func (c *Client) uploadFrom(ctx context.Context, header *pb.DatasetHeader, table *Table, first int) (*pb.Dataset, error) {
	stream, err := c.Datasets.UploadDataset(ctx)
	if err != nil {
		return nil, err
	}
	// An error of Send says only that the stream has ended; CloseAndRecv says why.
	err = stream.Send(&pb.UploadDatasetRequest{Part: &pb.UploadDatasetRequest_Header{Header: header}})
	step := max(1, chunkBytes/(8*len(table.Rows[0])+256))
	for ; err == nil && first < len(table.Rows); first += step {
		end := min(first+step, len(table.Rows))
		number := uint32(first)
		chunk := &pb.DatasetChunk{Rows: NewMatrix(table.Rows[first:end]), FirstRow: &number}
		if len(table.IDs) > 0 {
			chunk.ObservationIds = table.IDs[first:end]
		}
		err = stream.Send(&pb.UploadDatasetRequest{Part: &pb.UploadDatasetRequest_Chunk{Chunk: chunk}})
	}
	reply, err := stream.CloseAndRecv()
	return reply.GetDataset(), err
}

// NewMatrix returns the rows, which are of equal length, as the messages hold them.
func NewMatrix(rows [][]float64) *pb.Matrix {
	values := make([]byte, 0, 8*len(rows)*len(rows[0]))
	for _, row := range rows {
		for _, value := range row {
			values = binary.LittleEndian.AppendUint64(values, math.Float64bits(value))
		}
	}
	return &pb.Matrix{Rows: uint32(len(rows)), Columns: uint32(len(rows[0])), Values: values}
}
