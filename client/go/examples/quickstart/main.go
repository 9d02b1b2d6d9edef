// Tunes on a CSV file with a rule for an oracle. Run it with: quickstart HOST:PORT ROWS.csv SEED
//
// It prints one JSON line: gamma, C, and how far outside the first three rows are.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"

	svddtune "github.com/svddtune/svddtune/client/go"
	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: quickstart HOST:PORT ROWS.csv SEED")
	}
	seed, err := strconv.ParseUint(os.Args[3], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], seed); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, file string, seed uint64) error {
	client, err := svddtune.Dial(address)
	if err != nil {
		return err
	}
	defer client.Close()

	rows, err := os.Open(file)
	if err != nil {
		return err
	}
	defer rows.Close()
	table, err := svddtune.ReadCSV(rows, "id")
	if err != nil {
		return err
	}
	dataset, err := client.Upload(ctx, table)
	if err != nil {
		return err
	}
	session, err := client.CreateSession(ctx, dataset.GetName(), &pb.SessionConfig{Budget: 20, Seed: seed})
	if err != nil {
		return err
	}
	latency := slices.Index(dataset.GetFeatureNames(), "latency_ms")
	errors := slices.Index(dataset.GetFeatureNames(), "errors")
	decide := func(_ context.Context, query *svddtune.Query) (svddtune.Verdict, error) {
		if query.Features[latency] > 300 || query.Features[errors] > 5 {
			return svddtune.Outlier, nil
		}
		return svddtune.Inlier, nil
	}
	answered := 0
	labeler := svddtune.Labeler{
		Name:     "quickstart",
		Sessions: []string{session.GetName()},
		OnAck: func(*svddtune.Query, *pb.Ack) {
			answered++
			fmt.Fprintln(os.Stderr, "answered", answered)
		},
	}
	if err := client.Label(ctx, labeler, decide); err != nil {
		return err
	}
	result, err := client.Result(ctx, session.GetName())
	if err != nil {
		return err
	}
	judged, err := client.Score(ctx, result.GetName(), table.Rows[:3])
	if err != nil {
		return err
	}
	scores := []float64{}
	for _, row := range judged {
		scores = append(scores, row.GetDistance())
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"gamma": result.GetGamma(), "c": result.GetC(), "scores": scores,
	})
}
