package copycmd

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/internal/meter"
	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// exportFlags are the flags of locket export.
type exportFlags struct {
	out, notebook  string
	to             []string
	encrypt        bool
	passphraseFile string
	secrets        bool
}

func ExportCommand(a *cli.App) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "Write everything to a file or folder", Args: cli.NoArgs(),
		Long: `Writes every line that was said and every claim, including photos and recordings, signed by
this device. The format is JSON, one record per line, or with --notebook a folder (or .zip)
of Markdown that anybody can read. locket import reads both back completely.

Unless it is encrypted, anybody who has the export can read it. --to and --encrypt make a
file in the age format, which the age command also opens. Secrets of the vault stay sealed
in it, with a key that only this device has. With --secrets, an encrypted export contains
them in plain text.`,
		Example: `  locket export -o memories.jsonl
  locket export --notebook memories
  locket export --encrypt -o memories.jsonl.age
  locket export --to age1… --secrets --notebook memories.zip.age`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.out != "" && f.notebook != "" {
				return cli.Usagef("--output and --notebook: choose one")
			}
			sealed := f.encrypt || len(f.to) > 0
			if f.secrets && !sealed {
				return cli.Usagef("--secrets needs an encrypted export: give --to or --encrypt")
			}
			if f.encrypt && len(f.to) > 0 {
				return cli.Usagef("--encrypt and --to: choose a passphrase or recipients")
			}
			if sealed && f.notebook != "" && !strings.HasSuffix(f.notebook, ".zip.age") {
				return cli.Usagef("--notebook: an encrypted notebook is one file: name it …zip.age")
			}
			if info, err := os.Lstat(f.out); err == nil && !info.IsDir() { // a link or device would be replaced
				return cli.AdvisedError{Err: fmt.Errorf("%s already exists", f.out), Advice: "Name a new file, or remove that one first."}
			}
			var pass serve.Secret
			if f.encrypt {
				var err error
				if pass, err = a.NewPassphrase(f.passphraseFile); err != nil {
					return err
				}
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				return export(a, cmd.Context(), cl, &f, string(pass))
			})
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write to a new `file` that only you can read, instead of standard output")
	fl.StringVar(&f.notebook, "notebook", "", "write a `folder` of Markdown, or a .zip or .zip.age of it")
	fl.StringArrayVar(&f.to, "to", nil, "encrypt to an age `recipient`; may be repeated")
	fl.BoolVar(&f.encrypt, "encrypt", false, "encrypt with a passphrase")
	fl.StringVar(&f.passphraseFile, "passphrase-file", "", "read that passphrase from a `file`")
	fl.BoolVar(&f.secrets, "secrets", false, "include the vault's values in plain text; unlock the vault first")
	return c
}

// exported is what locket export prints about a file.
type exported struct {
	File    string `json:"file"`
	Records int    `json:"records"` // between header and end
	Signer  string `json:"signer"`  // words of the key that signed it
}

// export writes everything that the node exports.
func export(a *cli.App, ctx context.Context, cl *serve.Client, f *exportFlags, pass string) error {
	s, err := cl.Status(ctx)
	if err != nil {
		return err
	}
	about := s.Utterances // roughly the number of records; former memories are not counted
	for _, n := range s.Memories {
		about += n
	}
	m := a.Meter("export", "records", about)
	var sealed []string
	path, sum, err := writeExport(a, cli.StillSealed(meter.CountItems(m, cl.Export(ctx, serve.ExportOptions{Secrets: f.secrets})), &sealed), f, pass)
	m.End()
	if err != nil {
		return err
	}
	if f.secrets {
		a.TellSealed(sealed)
	}
	if n := s.Memories[memory.Vault]; n > 0 && !f.secrets {
		fmt.Fprint(a.Stderr, a.WithHomef("The vault (%s) stays sealed to this node in the export: a new home can't read it. To include its values: locket backup DIR, or --secrets with --encrypt.\n", cli.Plural(n, "secret", "secrets")))
	}
	if path == "" {
		return nil
	}
	done := exported{path, sum.Records, archive.Words(sum.Key)}
	return a.Print(done, func(w io.Writer) {
		fmt.Fprintf(w, "Wrote %s to %s, signed by the key with the words %s.\n", cli.Plural(done.Records, "record", "records"), path, done.Signer)
	})
}

// writeExport returns the file or folder that it wrote, or "" for standard output.
func writeExport(a *cli.App, records iter.Seq2[serve.ExportRecord, error], f *exportFlags, pass string) (path string, sum archive.Summary, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("exporting: %w", err)
		}
	}()
	write := writeLines
	path = f.out
	if f.notebook != "" {
		path = f.notebook
		if !strings.HasSuffix(path, ".zip") && !strings.HasSuffix(path, ".age") {
			sum, err = exportFolder(path, records)
			return path, sum, err
		}
		write = writeZip
	}
	sealing := func(w io.Writer, records iter.Seq2[serve.ExportRecord, error]) (archive.Summary, error) {
		if !f.encrypt && len(f.to) == 0 {
			return write(w, records)
		}
		sealed, err := seal.SealFile(w, f.to, pass)
		if err != nil {
			return archive.Summary{}, err
		}
		sum, err := write(sealed, records)
		if err != nil {
			return sum, err // do not close the file: without its end it can't be opened
		}
		return sum, sealed.Close()
	}
	if path == "" {
		w := bufio.NewWriter(a.Stdout)
		_, err := sealing(w, records)
		return "", sum, errors.Join(err, w.Flush())
	}
	err = atomicfile.Stream(path, func(w io.Writer) (err error) {
		sum, err = sealing(w, records)
		return err
	})
	return path, sum, err
}

// writeLines writes an archive as JSON, one record a line.
func writeLines(w io.Writer, records iter.Seq2[serve.ExportRecord, error]) (archive.Summary, error) {
	enc := json.NewEncoder(w)
	return archive.Check(records, func(r serve.ExportRecord) error { return enc.Encode(r) })
}

// zipFolder is a notebook in one file.
type zipFolder struct{ z *zip.Writer }

func (z zipFolder) Create(name string) (io.WriteCloser, error) {
	w, err := z.z.Create(name)
	return struct {
		io.Writer
		io.Closer
	}{w, io.NopCloser(nil)}, err
}

func writeZip(w io.Writer, records iter.Seq2[serve.ExportRecord, error]) (archive.Summary, error) {
	z := zip.NewWriter(w)
	sum, err := archive.WriteNotebook(records, zipFolder{z})
	return sum, errors.Join(err, z.Close())
}

// diskFolder is a notebook in a folder. No name can lead out of the folder.
type diskFolder struct{ root *os.Root }

func (d diskFolder) Create(name string) (io.WriteCloser, error) {
	if dir := filepath.Dir(filepath.FromSlash(name)); dir != "." {
		if err := d.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	return d.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// exportFolder makes a folder, which must not exist yet: the files of an older notebook would be
// taken for records of the new one.
func exportFolder(path string, records iter.Seq2[serve.ExportRecord, error]) (sum archive.Summary, err error) {
	part := filepath.Clean(path) + ".part"
	if _, err := os.Lstat(path); err == nil {
		return sum, cli.AdvisedError{Err: fmt.Errorf("%s already exists", path), Advice: "A notebook needs its own folder: name a new one, or remove that one first."}
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return sum, atomicfile.Fault(path, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part) // the first error counts
		}
	}()
	root, err := os.OpenRoot(part)
	if err != nil {
		return sum, err
	}
	sum, err = archive.WriteNotebook(records, diskFolder{root})
	if err = errors.Join(err, root.Close()); err != nil {
		return sum, err
	}
	return sum, os.Rename(part, path)
}
