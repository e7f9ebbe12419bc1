// Command pack writes a zip of folders for a package to embed. `pack TO.zip NAME=DIR…` puts the
// files under each DIR below NAME/, or at the top if NAME is empty. DIR/*.go means only the Go
// files directly in that folder, without tests. Files and their order determine the bytes.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pack TO.zip NAME=DIR…")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pack(to string, folders []string) error {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, folder := range folders {
		name, dir, ok := strings.Cut(folder, "=")
		if !ok {
			return fmt.Errorf("%q: want NAME=DIR", folder)
		}
		dir, source := strings.CutSuffix(dir, "/*.go")
		if err := add(z, name, os.DirFS(dir), source); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}

func add(z *zip.Writer, name string, files fs.FS, source bool) error {
	return fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && source:
			return fs.SkipDir
		case d.IsDir(), source && (!strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go")):
			return nil
		}
		b, err := fs.ReadFile(files, p)
		if err != nil {
			return err
		}
		w, err := z.Create(path.Join(name, p))
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
}
