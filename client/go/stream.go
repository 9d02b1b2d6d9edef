package svddtune

import (
	"context"

	"google.golang.org/grpc"

	pb "github.com/svddtune/svddtune/client/go/svddtunepb"
)

func typedUnary(
	ctx context.Context, method string, request, reply any, cc *grpc.ClientConn,
	invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	return asError(invoker(ctx, method, request, reply, cc, opts...))
}

func typedStream(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
	streamer grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, asError(err)
	}
	return typed{stream}, nil
}

// typed is a stream whose errors are of type *Error.
type typed struct{ grpc.ClientStream }

func (t typed) SendMsg(m any) error { return asError(t.ClientStream.SendMsg(m)) }
func (t typed) RecvMsg(m any) error { return asError(t.ClientStream.RecvMsg(m)) }

// listen reads a stream in a goroutine; ended gets the error that it ends with.
func listen(
	ctx context.Context, stream pb.OracleService_ConverseClient,
) (heard chan *pb.ConverseResponse, ended chan error) {
	heard, ended = make(chan *pb.ConverseResponse), make(chan error, 1)
	go func() {
		for {
			message, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			select {
			case heard <- message:
			case <-ctx.Done():
				return
			}
		}
	}()
	return heard, ended
}
