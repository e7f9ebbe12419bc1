package node

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/node/config"
)

// readDictionary reads the file that recall.dictionary names, which may be
// compressed with gzip. The result is nil if the setting is empty. The error names
// the setting, the file and the line.
func readDictionary(path string) (*recall.Dictionary, error) {
	if path == "" {
		return nil, nil
	}
	wrong := func(err error) error {
		return fmt.Errorf("%w: recall.dictionary: %s: %w", config.ErrConfig, path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, wrong(err)
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if magic, err := r.(*bufio.Reader).Peek(2); err == nil && bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, wrong(err)
		}
	}
	d, err := recall.ReadDictionary(r)
	if err != nil {
		return nil, wrong(err)
	}
	return d, nil
}
