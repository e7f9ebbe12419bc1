// Package bucket opens the place for blobs that a URL names: a bucket of a cloud service, through
// gocloud.dev, or a folder. It is a separate package so that programs without a cloud do not
// contain the clients.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://

	"github.com/locket-dev/locket/cloud/relay/objects"
)

// ErrURL: the URL names no place for blobs.
var ErrURL = errors.New("not a place for blobs")

// Open opens a place: s3://BUCKET?region=…, gs://BUCKET, azblob://CONTAINER, or
// file:///DIR. It finds credentials where the cloud's own tools do. ?prefix=…/
// sets a prefix for all names.
func Open(ctx context.Context, name string) (objects.Objects, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrURL, name)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return nil, fmt.Errorf("%w: %q: want file:///DIR", ErrURL, name)
		}
		return objects.OpenFolder(u.Path)
	case "s3", "gs", "azblob":
		b, err := blob.OpenBucket(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", u.Redacted(), err)
		}
		return of(b), nil
	}
	return nil, fmt.Errorf("%w: %q: want s3://, gs://, azblob:// or file:///", ErrURL, name)
}

// of returns the objects of a bucket. Closing them closes the bucket.
func of(b *blob.Bucket) objects.Objects { return &bucket{b, patience} }

// patience is how long a service may take for its next step: to answer, to
// accept data, or to send more. The services' clients retry by themselves,
// Google's without end.
const patience = 30 * time.Second

// bucket implements [objects.Objects].
type bucket struct {
	b        *blob.Bucket
	patience time.Duration
}

// errLate ends a request that took longer than patience.
var errLate = errors.New("the service does not answer")

// Put implements [objects.Objects]. An object does not exist until its write
// was closed without an error.
func (k *bucket) Put(ctx context.Context, name string, r io.Reader) error {
	if err := objects.CheckName(name); err != nil {
		return err
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(k.patience, func() { cancel(errLate) })
	defer late.Stop()
	from := &source{Reader: r, more: func() { late.Reset(k.patience) }, failed: cancel}
	// A Writer is not used, because closing it panics if Azure refuses the
	// data.
	err := k.b.Upload(within, name, from, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if from.err != nil {
		err = from.err
	} else {
		err = fault(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return nil
}

func (k *bucket) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := objects.CheckName(name); err != nil {
		return nil, err
	}
	within, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(k.patience, func() { cancel(errLate) })
	r, err := k.b.NewRangeReader(within, name, offset, -1, nil)
	late.Stop()
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("open %s: %w", name, k.fault(ctx, err))
	}
	return &stream{r, ctx, k.patience, late, func() { cancel(nil) }}, nil
}

func (k *bucket) Delete(ctx context.Context, name string) error {
	if err := objects.CheckName(name); err != nil {
		return err
	}
	within, cancel := context.WithTimeoutCause(ctx, k.patience, errLate)
	defer cancel()
	if err := k.fault(ctx, k.b.Delete(within, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

func (k *bucket) Remove(ctx context.Context, prefix string) error {
	if err := objects.CheckName(prefix); err != nil || !strings.HasSuffix(prefix, "/") {
		return errors.Join(err, fmt.Errorf("remove: %w: %q", objects.ErrName, prefix))
	}
	all := k.b.List(&blob.ListOptions{Prefix: prefix})
	for {
		within, cancel := context.WithTimeoutCause(ctx, k.patience, errLate)
		o, err := all.Next(within)
		cancel()
		if err == io.EOF {
			return nil
		}
		if err = fault(ctx, err); err == nil {
			err = k.Delete(ctx, o.Key)
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", prefix, err)
		}
	}
}

// fault is [fault], but believes that an object does not exist only if the
// bucket exists, because some answers do not distinguish the two.
func (k *bucket) fault(ctx context.Context, err error) error {
	if err = fault(ctx, err); errors.Is(err, fs.ErrNotExist) {
		if away := k.Check(ctx); away != nil {
			return away
		}
	}
	return err
}

func (k *bucket) Check(ctx context.Context) error {
	within, cancel := context.WithTimeoutCause(ctx, k.patience, errLate)
	defer cancel()
	_, err := k.b.List(nil).Next(within)
	if err == io.EOF {
		err = nil
	}
	return fault(ctx, err)
}

func (k *bucket) Close() error { return k.b.Close() }
