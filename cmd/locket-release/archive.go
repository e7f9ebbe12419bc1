package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// entry is a file of an archive or a package.
type entry struct {
	name string // with slashes
	from string // the file with its content
	mode os.FileMode
}

// archiveName returns the name of a target's archive.
func (r *making) archiveName(t target) string {
	name := "locket_" + r.number() + "_" + t.name()
	if t.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// archives writes archives for those who install without a package: a folder with bin, share and
// the documents.
func (r *making) archives(chosen []target) error {
	for _, t := range chosen {
		top := "locket_" + r.number() + "_" + t.name()
		list := []entry{{"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644}, {"README.md", filepath.Join(r.root, "README.md"), 0o644}}
		for _, c := range t.commands() {
			list = append(list, entry{"bin/" + c + t.exe(), r.binary(t, c), 0o755})
			if t.os == "windows" {
				continue
			}
			pages, err := filepath.Glob(filepath.Join(r.pages(c), "*.1"))
			if err != nil {
				return err
			}
			for _, p := range pages {
				list = append(list, entry{"share/man/man1/" + filepath.Base(p), p, 0o644})
			}
			for _, shell := range shells {
				list = append(list, entry{completionPlace(shell, c, "share"), r.completion(c, shell), 0o644})
			}
		}
		switch t.os {
		case "linux":
			list = append(list, entry{"share/systemd/user/locket.service", r.starter("locket.service"), 0o644})
		case "darwin":
			list = append(list, entry{"share/locket/dev.locket.locket.plist", r.starter("dev.locket.locket.plist"), 0o644})
		}
		for i := range list {
			list[i].name = path.Join(top, list[i].name)
		}
		write := r.tarball
		if t.os == "windows" {
			write = r.zip
		}
		if err := r.file(r.archiveName(t), func(w io.Writer) error { return write(w, list) }); err != nil {
			return err
		}
	}
	return nil
}

// starter returns a file that makes the service manager start the daemon at login.
func (r *making) starter(name string) string {
	return filepath.Join(r.root, "cmd", "locket", "cli", "atlogin", name)
}

// completionPlace returns where, under share, a shell looks for a command's completions.
func completionPlace(shell, command, share string) string {
	return map[string]string{"bash": share + "/bash-completion/completions/" + command, "zsh": share + "/zsh/site-functions/_" + command,
		"fish": share + "/fish/vendor_completions.d/" + command + ".fish"}[shell]
}

// tarball writes entries sorted, with one time and no owner.
func (r *making) tarball(w io.Writer, list []entry) (err error) {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	return r.tar(z, list)
}

func (r *making) tar(w io.Writer, list []entry) (err error) {
	t := tar.NewWriter(w)
	defer func() { err = errors.Join(err, t.Close()) }()
	for _, e := range sorted(list) {
		if e.mode.IsDir() {
			// An image has a folder that belongs to its user, nonroot.
			h := &tar.Header{Name: e.name + "/", Typeflag: tar.TypeDir, Mode: int64(e.mode.Perm()), ModTime: r.time, Uid: nonroot, Gid: nonroot, Format: tar.FormatPAX}
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			continue
		}
		b, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: int64(e.mode), ModTime: r.time, Size: int64(len(b)), Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *making) zip(w io.Writer, list []entry) (err error) {
	z := zip.NewWriter(w)
	defer func() { err = errors.Join(err, z.Close()) }()
	for _, e := range sorted(list) {
		b, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func sorted(list []entry) []entry {
	return slices.SortedFunc(slices.Values(list), func(a, b entry) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
}
