package postgres

import (
	"context"
	"errors"
	"io"

	"github.com/locket-dev/locket/cloud/relay/objects"
)

// object reads an object from any offset. It opens the object when the first
// byte is read, and again after a seek to another offset.
type object struct {
	ctx     context.Context // of the request that it answers
	objects objects.Objects
	name    string
	size    int64
	at      int64
	open    io.ReadCloser
}

// first opens the object at its beginning, to check that it exists.
func (o *object) first() (err error) {
	o.open, err = o.objects.Open(o.ctx, o.name, 0)
	return relayError(err)
}

func (o *object) Read(b []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.open == nil {
		r, err := o.objects.Open(o.ctx, o.name, o.at)
		if err != nil {
			return 0, relayError(err)
		}
		o.open = r
	}
	n, err := o.open.Read(b)
	o.at += int64(n)
	if err == io.EOF && o.at < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return o.at, errors.New("seek before the beginning")
	}
	if offset == o.at {
		return o.at, nil
	}
	o.at = offset
	return o.at, o.Close()
}

// Close implements [io.Closer]. A later Read opens the object again.
func (o *object) Close() error {
	if o.open == nil {
		return nil
	}
	r := o.open
	o.open = nil
	return r.Close()
}
