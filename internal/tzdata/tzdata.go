// Package tzdata has the zones of a machine that has none, as time/tzdata has them: whoever
// imports it can load them by time.LoadLocation. They take 60 KB of a program instead of 460,
// and about 1 MB of memory where one is loaded.
package tzdata

import (
	"archive/zip"
	"bytes"
	_ "embed" // for packed
	"io/fs"
	"sync"
	"syscall"
	_ "unsafe" // for linkname

	"github.com/klauspost/compress/zstd"
)

//go:generate go run ./build
//go:embed zoneinfo.zip.zst
var packed []byte // lib/time/zoneinfo.zip of the Go that builds

// Package time hands this function to time/tzdata, and so to whoever stands in for it.
//
//go:linkname registerLoadFromEmbeddedTZData time.registerLoadFromEmbeddedTZData
func registerLoadFromEmbeddedTZData(func(name string) (string, error))

func init() { registerLoadFromEmbeddedTZData(load) }

var zones = sync.OnceValues(func() (*zip.Reader, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	b, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(b), int64(len(b)))
})

// load gives a zone in the form of /usr/share/zoneinfo. The error of one that is not there
// is ENOENT, because package time tells it by that.
func load(name string) (string, error) {
	z, err := zones()
	if err != nil {
		return "", err
	}
	b, err := fs.ReadFile(z, name)
	if err != nil {
		return "", syscall.ENOENT
	}
	return string(b), nil
}
