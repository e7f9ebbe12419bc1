package recall

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// deflated returns a magic number followed by b as one deflate stream.
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
		panic(err) // the level is valid, and writing to a buffer does not fail
	}
	return out.Bytes()
}

// inflated returns the contents of a deflate stream that ends at the end of b. An error wraps
// ErrCorrupt. Contents longer than a segment may be are an error, too.
func inflated(b []byte) ([]byte, error) {
	rest := bytes.NewReader(b) // it is an io.ByteReader, so nothing behind the end is read
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(rest), maxSegment+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: can't be decompressed: %v", ErrCorrupt, err)
	case len(out) > maxSegment:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrCorrupt, maxSegment)
	case rest.Len() > 0:
		return nil, fmt.Errorf("%w: %d bytes after the end", ErrCorrupt, rest.Len())
	}
	return out, nil
}
