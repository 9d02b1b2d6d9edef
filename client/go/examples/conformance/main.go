// The Go client's program for the conformance suite, whose README says what it does:
//
//	conformance label ADDRESS SESSION LABELER CREDIT
//	conformance vectors FILE
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	svddtune "github.com/svddtune/svddtune/client/go"
	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

func main() {
	log.SetFlags(0)
	var err error
	switch arguments := os.Args[1:]; {
	case len(arguments) == 5 && arguments[0] == "label":
		err = label(arguments[1], arguments[2], arguments[3], arguments[4])
	case len(arguments) == 2 && arguments[0] == "vectors":
		err = vectors(arguments[1])
	default:
		err = errors.New("usage: conformance label ADDRESS SESSION LABELER CREDIT | vectors FILE")
	}
	if err != nil {
		log.Fatal(err)
	}
}

type object map[string]any

func tell(values object) {
	line, err := json.Marshal(values)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

// decide is the rule of the suite.
func decide(ctx context.Context, query *svddtune.Query) (svddtune.Verdict, error) {
	features := query.GetFeatures()
	if len(features) > 1 {
		select {
		case <-time.After(time.Duration(features[1] * float64(time.Second))):
		case <-ctx.Done():
			return svddtune.Verdict{}, ctx.Err()
		}
	}
	switch score := features[0]; {
	case score < -1:
		return svddtune.Release, nil
	case score < 0:
		return svddtune.SkipOthers, nil
	case score > 0.5:
		return svddtune.Outlier, nil
	}
	return svddtune.Inlier, nil
}

// access returns what the environment has to connect with.
func access() ([]grpc.DialOption, error) {
	var options []grpc.DialOption
	if file := os.Getenv("SVDDTUNE_TOKEN_FILE"); file != "" {
		options = append(options, svddtune.WithToken(svddtune.TokenFile(file)))
	}
	ca, cert := os.Getenv("SVDDTUNE_TLS_CA"), os.Getenv("SVDDTUNE_CLIENT_CERT")
	if ca == "" {
		return options, nil
	}
	tls, err := svddtune.WithTLS(ca)
	if cert != "" {
		tls, err = svddtune.WithClientCertificate(ca, cert, os.Getenv("SVDDTUNE_CLIENT_KEY"))
	}
	return append(options, tls), err
}

func label(address, session, name, credit string) error {
	number, err := strconv.ParseUint(credit, 10, 32)
	if err != nil {
		return err
	}
	options, err := access()
	if err != nil {
		return err
	}
	client, err := svddtune.Dial(address, options...)
	if err != nil {
		return err
	}
	defer client.Close()
	err = client.Label(context.Background(), svddtune.Labeler{
		Name:     name,
		Sessions: []string{session},
		Credit:   uint32(number),
		OnAck: func(query *svddtune.Query, ack *pb.Ack) {
			applied := ack.GetDisposition() == pb.Ack_DISPOSITION_APPLIED
			tell(object{"event": "acked", "query": query.GetQuery(), "applied": applied})
		},
		OnReject: func(query *svddtune.Query, refusal *svddtune.Error) error {
			tell(object{"event": "rejected", "query": query.GetQuery(), "reason": refusal.Reason})
			return nil
		},
		OnFinished: func(_ *pb.Session, reason pb.FinishReason) {
			tell(object{"event": "finished", "reason": reason.String()})
		},
	}, decide)
	var failed *svddtune.Error
	if errors.As(err, &failed) {
		tell(object{"event": "error", "code": code.Code(failed.Code).String(), "reason": failed.Reason})
		return nil
	}
	return err
}

// vectors prints what the client makes of the vectors in a file.
func vectors(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var file struct {
		Vectors []struct {
			Name       string
			Kind       string
			Rows       [][]float64
			DetailsBin []byte `json:"details_bin"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	for _, vector := range file.Vectors {
		switch vector.Kind {
		case "matrix":
			matrix := svddtune.NewMatrix(vector.Rows)
			tell(object{"name": vector.Name, "matrix": matrix.GetValues()})
		case "status":
			status := &spb.Status{}
			if err := proto.Unmarshal(vector.DetailsBin, status); err != nil {
				return err
			}
			tell(shown(vector.Name, svddtune.FromStatus(status)))
		}
	}
	return nil
}

// shown returns what an error holds.
func shown(name string, failed *svddtune.Error) object {
	values := object{
		"name": name, "code": code.Code(failed.Code).String(), "reason": failed.Reason, "message": failed.Message,
	}
	if len(failed.Metadata) > 0 {
		values["metadata"] = failed.Metadata
	}
	fields := []string{}
	for _, violation := range failed.Violations {
		fields = append(fields, violation.GetField())
	}
	if len(fields) > 0 {
		values["violations"] = fields
	}
	if failed.RetryAfter > 0 {
		values["retry_after_seconds"] = failed.RetryAfter.Seconds()
	}
	return values
}
