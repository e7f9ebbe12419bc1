package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"google.golang.org/api/googleapi"

	"github.com/locket-dev/locket/cloud/relay/objects"
)

// full lists the codes by which services say that there is no room left: S3 as
// MinIO and Ceph implement it. The clouds themselves have no such code. Status
// 507 counts for any service.
var full = []string{"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage"}

// fault translates a service's error. It does not use gocloud.dev's own codes,
// because those report "not found" also when Google forbids the access, when
// the bucket does not exist, and when an account's name can't be resolved. A
// relay that believed this would report blobs as lost, or deletions as done,
// only because a key was revoked or a name server failed.
func fault(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil { // the caller has given up
		return err
	}
	status, code := response(err)
	switch {
	case errors.Is(err, storage.ErrBucketNotExist):
	case errors.Is(err, storage.ErrObjectNotExist), status == http.StatusNotFound && slices.Contains(absent, code):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case status == http.StatusInsufficientStorage, slices.Contains(full, code):
		return fmt.Errorf("%w: %w", objects.ErrFull, err)
	}
	return fmt.Errorf("%w: %w", objects.ErrUnavailable, err)
}

// absent lists the codes for an object that does not exist. NotFound is the
// code of an answer without a body, to HEAD.
var absent = []string{"NoSuchKey", "NotFound", "BlobNotFound"}

// response returns the status and the code of a service's answer, or 0 and ""
// if there was none.
func response(err error) (status int, code string) {
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return e.StatusCode, e.ErrorCode
	}
	if e, ok := errors.AsType[*googleapi.Error](err); ok {
		if len(e.Errors) > 0 {
			code = e.Errors[0].Reason
		}
		return e.Code, code
	}
	if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = e.HTTPStatusCode()
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		code = e.ErrorCode()
	}
	return status, code
}

// source remembers a read error, which is not the service's fault. It calls
// failed before the service's client sees the error, so that the bytes sent so
// far do not become an object.
type source struct {
	io.Reader
	more   func() // called when the service has taken more data
	failed func(error)
	err    error
}

func (s *source) Read(b []byte) (int, error) {
	s.more()
	n, err := s.Reader.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
		s.failed(err)
	}
	s.more()
	return n, err
}

// stream is an object that is being read. It translates the service's errors
// with [fault].
type stream struct {
	io.ReadCloser
	ctx      context.Context // context of the request
	patience time.Duration
	late     *time.Timer // ends the request
	end      func()
}

func (s *stream) Read(b []byte) (int, error) {
	s.late.Reset(s.patience)
	n, err := s.ReadCloser.Read(b)
	s.late.Stop()
	if err != nil && err != io.EOF {
		err = fault(s.ctx, err)
	}
	return n, err
}

func (s *stream) Close() error {
	s.late.Stop()
	defer s.end()
	return s.ReadCloser.Close()
}
