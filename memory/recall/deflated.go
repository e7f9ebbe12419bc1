package recall

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// deflated is a magic number, and b as one deflate stream.
func deflated(magic string, b []byte) []byte {
	out := bytes.NewBufferString(magic)
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // the level is one that there is, and a buffer takes everything
	}
	return out.Bytes()
}

// inflated is what a deflate stream has that ends where b does. More than a
// segment may have is an error, as is anything else that wraps ErrCorrupt.
func inflated(b []byte) ([]byte, error) {
	rest := bytes.NewReader(b) // an io.ByteReader: nothing behind the end is read
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(rest), maxSegment+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: can't be inflated: %v", ErrCorrupt, err)
	case len(out) > maxSegment:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrCorrupt, maxSegment)
	case rest.Len() > 0:
		return nil, fmt.Errorf("%w: %d bytes after the end", ErrCorrupt, rest.Len())
	}
	return out, nil
}
