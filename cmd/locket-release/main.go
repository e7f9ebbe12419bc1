// Command locket-release makes all parts of a release from one source: archives, packages, images,
// a formula, a bill of materials, checksums and their signature. The same source and version give
// the same bytes, in any folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "locket-release: %v\n", err)
		os.Exit(1)
	}
}

// publicKey is the path in the source of the key with which signatures are verified.
const publicKey = "docs/release.pub"

const usage = `Usage: locket-release [--version v0.1.0] --out DIR (--key FILE | --unsigned)
       locket-release --new-key FILE

Makes a release of the commit that is checked out. Its tag is the version.
LOCKET_RELEASE_PASSWORD_FILE names the file with the password of the key.

`

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var s source
	var out, key, newKey, when, only string
	var unsigned, deb bool
	f := flag.NewFlagSet("locket-release", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage); f.PrintDefaults() }
	f.StringVar(&s.root, "root", "", "`folder` of the source; default: the current folder")
	f.StringVar(&s.version, "version", "", "version, such as v0.1.0; default: the tag of the commit")
	f.StringVar(&s.commit, "commit", "", "commit that is checked out; default: ask git")
	f.StringVar(&when, "time", "", "time of the commit, RFC 3339; default: ask git")
	f.StringVar(&only, "targets", "", "targets, such as linux/amd64,darwin/arm64; default: all")
	f.StringVar(&out, "out", "", "`folder` to make for the release")
	f.StringVar(&key, "key", "", "`file` of the minisign key that signs")
	f.StringVar(&newKey, "new-key", "", "only make a key in this `file`, with its public half beside it")
	f.BoolVar(&deb, "deb", false, "only make locket's Debian packages, unsigned, for a trial")
	f.BoolVar(&unsigned, "unsigned", false, "sign nothing, for a trial")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("%q is one argument too many", f.Arg(0))
	case newKey != "":
		return makeKey(newKey, stdout)
	case out == "":
		return errors.New("--out is missing: the folder for the release")
	case deb && key != "":
		return errors.New("--deb is for a trial, and signs nothing")
	case !deb && (key == "") != unsigned:
		return errors.New("give --key FILE, or --unsigned for a trial")
	}
	if err := s.complete(ctx, when); err != nil {
		return err
	}
	chosen, err := chooseTargets(only)
	if err != nil {
		return err
	}
	sign, err := loadSigner(key, filepath.Join(s.root, publicKey))
	if err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil { // a new folder, so that nothing else is signed
		return err
	}
	r := &making{source: s, packs: packs, formats: formats, out: out, log: stderr}
	if deb {
		r.packs, r.formats = packs[:1], []string{"deb"}
	}
	if r.work, err = os.MkdirTemp("", "locket-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.all(ctx, chosen, sign, deb); err != nil {
		return errors.Join(err, os.RemoveAll(out))
	}
	for _, name := range append(r.made, checksums) {
		fmt.Fprintln(stdout, filepath.Join(out, name))
	}
	return nil
}

// making is one run of the program.
type making struct {
	source
	packs     []pack
	formats   []string // of packages
	work, out string   // the folders for temporary files and for the release
	made      []string
	log       io.Writer
}

// all makes everything, in the order of dependencies. For a trial it makes only packages.
func (r *making) all(ctx context.Context, chosen []target, sign *signer, packages bool) error {
	steps := []struct {
		name  string
		trial bool
		do    func() error
	}{
		{"man pages and completions", true, func() error { return r.manuals(ctx) }},
		{"binaries", true, func() error { return r.build(ctx, chosen) }},
		{"archives", false, func() error { return r.archives(chosen) }},
		{"packages", true, func() error { return r.packages(chosen) }},
		{"images", false, func() error { return r.images(chosen) }},
		{"bill of materials", false, func() error { return r.materials(chosen) }},
		{"formula", false, func() error { return r.formula(chosen) }},
		{"install script and notes", false, r.papers},
		{"checksums", true, func() error { return r.sums(sign) }},
	}
	for _, s := range steps {
		if packages && !s.trial {
			continue
		}
		fmt.Fprintf(r.log, "%s…\n", s.name)
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// number is the version without its v: 0.1.0.
func (r *making) number() string { return strings.TrimPrefix(r.version, "v") }

// file makes one file of the release, and adds its name to the checksums.
func (r *making) file(name string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(filepath.Join(r.out, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.made = append(r.made, name)
	return nil
}
