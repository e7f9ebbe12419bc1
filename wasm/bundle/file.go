package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Extension is the extension of a bundle's file: a tar archive, compressed by gzip.
const Extension = ".locket-plugin"

// MediaType is the media type of a bundle in an OCI registry and over HTTP.
const MediaType = "application/vnd.locket.plugin.v1.tar+gzip"

// Write writes a bundle as a file. The same parts make the same bytes.
func Write(w io.Writer, b Bundle) error {
	if err := b.check(); err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, part := range most {
		content := *b.part(part.name)
		if part.name == SignatureName && len(content) > 0 {
			content = formatSignature(content)
		}
		if len(content) == 0 {
			continue
		}
		if int64(len(content)) > part.size {
			return fmt.Errorf("%w: %s: %d bytes, at most %d", ErrBundle, part.name, len(content), part.size)
		}
		err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: part.name, Size: int64(len(content)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR})
		if err != nil {
			return fmt.Errorf("writing plugin file: %w", err)
		}
		if _, err := t.Write(content); err != nil {
			return fmt.Errorf("writing plugin file: %w", err)
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return fmt.Errorf("writing plugin file: %w", err)
	}
	return nil
}

// Read reads a bundle's file. It refuses the entire file if an entry does not have one of the five
// names, is not a plain file (but a link, a folder, a device), or comes twice. So an archive never
// decides where anything is written.
func Read(r io.Reader) (Bundle, error) {
	var b Bundle
	in := bufio.NewReader(io.LimitReader(r, MaxSize))
	if head, _ := in.Peek(4); string(head) == "\x00asm" {
		return b, fmt.Errorf("%w: it is not a plugin file, but a module without its manifest", ErrBundle)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return b, fmt.Errorf("%w: it is not a plugin file: %v", ErrBundle, err)
	}
	z.Multistream(false)
	// Anything that unpacks to more than all parts at their largest is cut there.
	t := tar.NewReader(io.LimitReader(z, MaxSize))
	seen := map[string]bool{}
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Bundle{}, fmt.Errorf("%w: after %d entries: %v", ErrBundle, len(seen), err)
		}
		content, err := entry(h, t, seen)
		if err != nil {
			return Bundle{}, err
		}
		seen[h.Name] = true
		if h.Name == SignatureName {
			if content, err = parseSignature(content); err != nil {
				return Bundle{}, err
			}
		}
		*b.part(h.Name) = content
	}
	return b, b.check()
}

// entry reads one entry of an archive, if it is allowed.
func entry(h *tar.Header, r io.Reader, seen map[string]bool) ([]byte, error) {
	switch {
	case h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink:
		return nil, fmt.Errorf("%w: entry %q is a link", ErrBundle, h.Name)
	case h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("%w: entry %q is not a plain file", ErrBundle, h.Name)
	case seen[h.Name]:
		return nil, fmt.Errorf("%w: entry %q comes twice", ErrBundle, h.Name)
	}
	for _, part := range most {
		if part.name != h.Name {
			continue
		}
		if h.Size > part.size {
			return nil, fmt.Errorf("%w: %s: %d bytes, at most %d", ErrBundle, h.Name, h.Size, part.size)
		}
		content, err := io.ReadAll(io.LimitReader(r, part.size))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrBundle, h.Name, err)
		}
		return content, nil
	}
	return nil, fmt.Errorf("%w: entry %q: only %s, %s, %s, %s and %s may be in it", ErrBundle, h.Name,
		ManifestName, SignatureName, ModuleName, ReadmeName, LicenceName)
}

// ReadPath reads a bundle's file, or a folder with the same entries.
func ReadPath(path string) (Bundle, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Bundle{}, fmt.Errorf("reading plugin: %w", err)
	}
	if st.IsDir() {
		return readFolder(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Bundle{}, fmt.Errorf("reading plugin: %w", err)
	}
	defer f.Close()
	b, err := Read(f)
	if err != nil {
		return b, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// readFolder refuses links, too: a folder may have been unpacked from a stranger's archive.
func readFolder(dir string) (Bundle, error) {
	var b Bundle
	for _, part := range most {
		path := filepath.Join(dir, part.name)
		st, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return Bundle{}, fmt.Errorf("reading plugin: %w", err)
		}
		switch {
		case !st.Mode().IsRegular():
			return Bundle{}, fmt.Errorf("%w: %s is not a plain file", ErrBundle, path)
		case st.Size() > part.size:
			return Bundle{}, fmt.Errorf("%w: %s: %d bytes, at most %d", ErrBundle, path, st.Size(), part.size)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return Bundle{}, fmt.Errorf("reading plugin: %w", err)
		}
		if part.name == SignatureName {
			if content, err = parseSignature(content); err != nil {
				return Bundle{}, fmt.Errorf("%s: %w", path, err)
			}
		}
		*b.part(part.name) = content
	}
	if err := b.check(); err != nil {
		return Bundle{}, fmt.Errorf("%s: %w", dir, err)
	}
	return b, nil
}

// Bytes returns the bundle as a file.
func (b *Bundle) Bytes() ([]byte, error) {
	var out bytes.Buffer
	if err := Write(&out, *b); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
