// Package bucket opens the place that a URL names for blobs: a bucket of a
// cloud's, by gocloud.dev, or a folder. It is apart from the relay so that who
// needs no cloud does not carry its client.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	"github.com/locket-dev/locket/cloud/relay/objects"
)

// ErrURL is a URL that names no place for blobs.
var ErrURL = errors.New("not a place for blobs")

// Open opens what a URL names: s3://BUCKET?region=…, gs://BUCKET,
// azblob://CONTAINER, or file:///DIR. Credentials come from where the cloud's
// own tools take them. With ?prefix=…/ names begin with that.
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
		return Of(b), nil
	}
	return nil, fmt.Errorf("%w: %q: want s3://, gs://, azblob:// or file:///", ErrURL, name)
}

// Of gives the objects of a bucket, which is closed with them.
func Of(b *blob.Bucket) objects.Objects { return &bucket{b} }

type bucket struct{ b *blob.Bucket }

// Put implements [objects.Objects]: a write that is not closed well is not there.
func (k *bucket) Put(ctx context.Context, name string, r io.Reader) error {
	if err := objects.CheckName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := k.b.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream", DisableContentTypeDetection: true})
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	_, err = io.Copy(w, r)
	if err != nil {
		cancel() // and so Close leaves nothing
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	return nil
}

// Open implements [objects.Objects].
func (k *bucket) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := objects.CheckName(name); err != nil {
		return nil, err
	}
	r, err := k.b.NewRangeReader(ctx, name, offset, -1, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return r, nil
}

// Delete implements [objects.Objects].
func (k *bucket) Delete(ctx context.Context, name string) error {
	if err := objects.CheckName(name); err != nil {
		return err
	}
	if err := k.b.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// Remove implements [objects.Objects].
func (k *bucket) Remove(ctx context.Context, prefix string) error {
	if err := objects.CheckName(prefix); err != nil || !strings.HasSuffix(prefix, "/") {
		return errors.Join(err, fmt.Errorf("remove: %w: %q", objects.ErrName, prefix))
	}
	all := k.b.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := all.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = k.Delete(ctx, o.Key)
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", prefix, err)
		}
	}
}

// Check implements [objects.Objects].
func (k *bucket) Check(ctx context.Context) error {
	ok, err := k.b.IsAccessible(ctx)
	if err == nil && !ok {
		err = errors.New("the bucket is not there")
	}
	return err
}

// Close implements [objects.Objects].
func (k *bucket) Close() error { return k.b.Close() }
