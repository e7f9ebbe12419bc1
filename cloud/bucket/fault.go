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

// What services say where nothing more fits: S3 as MinIO and Ceph speak it. The
// clouds themselves have no such word, and 507 is anyone's.
var full = []string{"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage"}

// fault gives a service's error its meaning. gocloud.dev's own codes are not
// asked: it takes for "not there" what Google forbids, a bucket that is not
// there, and an account whose name can't be found. A relay that believed it
// would say that blobs are gone, and take removals for done, because a key was
// revoked or a name server was away.
func fault(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil { // who asked has gone
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

// absent are the words for an object that is not there. NotFound is that of an
// answer without a body, to HEAD.
var absent = []string{"NoSuchKey", "NotFound", "BlobNotFound"}

// response gives the status and the word of a service's answer, 0 and "" where
// there was none.
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

// source remembers what reading failed with, which is not the service's fault.
// failed is told before the service's client is: what it has sent by then must
// not become an object.
type source struct {
	io.Reader
	more   func() // the service has taken what it was given
	failed func(error)
	err    error
}

// Read implements [io.Reader].
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

// stream is an object that is read; what its service does wrong is told as [fault] does.
type stream struct {
	io.ReadCloser
	ctx      context.Context // of the request
	patience time.Duration
	late     *time.Timer // ends the request
	end      func()
}

// Read implements [io.Reader].
func (s *stream) Read(b []byte) (int, error) {
	s.late.Reset(s.patience)
	n, err := s.ReadCloser.Read(b)
	s.late.Stop()
	if err != nil && err != io.EOF {
		err = fault(s.ctx, err)
	}
	return n, err
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.late.Stop()
	defer s.end()
	return s.ReadCloser.Close()
}
