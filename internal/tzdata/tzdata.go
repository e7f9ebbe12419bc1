// Package tzdata has the time zones for a machine without them, like time/tzdata: a program that
// imports it can load them by time.LoadLocation. They take 60 KB of a program instead of 460, and
// about 1 MB of memory if one is loaded.
package tzdata

import (
	"archive/zip"
	"bytes"
	_ "embed" // for packed
	"io/fs"
	"strings"
	"sync"
	"syscall"
	_ "unsafe" // for linkname

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/internal/editdistance"
)

//go:generate go run ./build
//go:embed zoneinfo.zip.zst
var packed []byte // lib/time/zoneinfo.zip of the Go version that builds

// Package time exposes this function to time/tzdata, and so to its replacement.
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

// load returns a zone in the format of /usr/share/zoneinfo. The error for a missing one is ENOENT,
// because package time checks for that.
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

// Like returns the names of zones that a person may have meant by a name that is none: those that
// differ only in case or in spaces, or whose city is meant ("berlin", "New York"), and otherwise
// those with the fewest wrong letters, at most two. It is empty if there is none.
func Like(name string) []string {
	z, err := zones()
	if err != nil || len(name) > 64 {
		return nil // it only helps with a hint
	}
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "_")
	var out []string
	least, typed := min(2, len(name)/4), []byte(strings.ToLower(name))
	for _, f := range z.File {
		zone := strings.ToLower(f.Name)
		city := zone[strings.LastIndexByte(zone, '/')+1:]
		if city == "" {
			continue
		}
		wrong := min(editdistance.Of(typed, []byte(zone)), editdistance.Of(typed, []byte(city)))
		if wrong < least {
			least, out = wrong, nil
		}
		if wrong == least {
			out = append(out, f.Name)
		}
	}
	return out
}
