package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/foreign"
	"github.com/locket-dev/locket/node/serve"
)

// importFlags are those of locket import.
type importFlags struct {
	from, signer, identity, passphraseFile string
	unsigned                               bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use: "import [FILE|FOLDER]", Short: "Read an export, or the memories of another system", Args: between(0, 1, ""),
		Long: `Reads what locket export wrote, in any of its forms, from a file or standard input. The
export is checked first. One that is cut off, was changed, or was signed by a stranger is
refused as a whole. What is there already is skipped.

--from reads other systems: mem0 (the JSON of get_all or of an export), chatgpt (saved
memories as text or JSON, or conversations.json), or notes (a Markdown file or folder).
Memories of mem0 and notes are kept as they stand. Conversations go through the extractors
as what you said. Importing twice adds nothing.`,
		Example: `  locket import memories.jsonl.age
  locket import --from mem0 mem0.json
  locket import --from notes ~/Notes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			if len(args) == 1 {
				path = args[0]
			}
			formats := []foreign.Format{foreign.Mem0, foreign.ChatGPT, foreign.Notes}
			if f.from != "" && !slices.Contains(formats, foreign.Format(f.from)) {
				return usagef("--from %q: want mem0, chatgpt or notes", f.from)
			}
			if f.from != "" {
				return a.importForeign(cmd, foreign.Format(f.from), path)
			}
			return a.importArchive(cmd, path, &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "of another `system`: mem0, chatgpt or notes")
	fl.StringVar(&f.signer, "signer", "", "take it though the key of these five `words` signed it, which is no device of yours")
	fl.BoolVar(&f.unsigned, "unsigned", false, "take it without a signature")
	fl.StringVar(&f.identity, "identity", "", "open it with a `file` of age identities")
	fl.StringVar(&f.passphraseFile, "passphrase-file", "", "open it with a passphrase out of a `file`")
	return c
}

// source is what an import reads: a file that was opened, sealed or not.
type source struct {
	io.ReaderAt
	size  int64
	close func() error
}

// openSource opens a file. Standard input is read to its end first.
func (a *app) openSource(path string, f *importFlags) (*source, error) {
	s := &source{close: func() error { return nil }}
	if path == "-" {
		b, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, err
		}
		s.ReaderAt, s.size = bytes.NewReader(b), int64(len(b))
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		st, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		s.ReaderAt, s.size, s.close = file, st.Size(), file.Close
	}
	start := make([]byte, 1024)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, s.close())
	}
	if !seal.IsFile(start[:n]) {
		return s, nil
	}
	var identities, pass string
	if f.identity != "" {
		b, err := os.ReadFile(f.identity)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		identities = string(b)
	} else {
		p, err := a.passphrase(f.passphraseFile, "Passphrase of the export: ")
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		pass = string(p)
	}
	s.ReaderAt, s.size, err = seal.OpenFile(s.ReaderAt, s.size, identities, pass)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (a *app) importArchive(cmd *cobra.Command, path string, f *importFlags) (err error) {
	opt := serve.ImportOptions{Unsigned: f.unsigned, Signer: strings.Join(strings.Fields(f.signer), " ")}
	var body io.Reader
	total := 0 // kB, where it is known
	if st, serr := os.Stat(path); path != "-" && serr == nil && st.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer root.Close()
		if body, err = a.notebook(root.FS(), archive.MaxNotebook); err != nil {
			return fmt.Errorf("importing %s: %w", path, err)
		}
	} else {
		s, err := a.openSource(path, f)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer s.close()
		total = int(s.size / 1000)
		if body, err = a.lines(path, s); err != nil {
			return fmt.Errorf("importing %s: %w", path, err)
		}
	}
	if c, ok := body.(io.Closer); ok {
		defer c.Close() // which ends the writer of a pipe
	}
	return a.with(cmd.Context(), true, func(cl *serve.Client) error {
		m := a.meter("import", "kB", total)
		r, err := cl.Import(cmd.Context(), m.countedReader(body), opt)
		m.end()
		return a.printed(err, r, func(w io.Writer) {
			fmt.Fprintf(w, "Took %s; %d there already, %d refused.\n", plural(r.Taken, "record", "records"), r.Skipped, r.Refused)
			if r.Refused > 0 {
				fmt.Fprintln(w, "See why: locket doctor")
			}
		})
	})
}

// lines gives the lines of an archive: those of the file, or of the notebook
// that is in it.
func (a *app) lines(path string, s *source) (io.Reader, error) {
	start := make([]byte, 512)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		z, err := zip.NewReader(s, s.size)
		if err != nil {
			return nil, err
		}
		return a.notebook(z, archive.MaxZipped(s.size))
	case foreign.Guess(path, start) != "":
		return nil, fmt.Errorf("this looks like something of %s: give --from %s", foreign.Guess(path, start), foreign.Guess(path, start))
	}
	return io.NewSectionReader(s, 0, s.size), nil
}

// notebook gives the lines of the archive that a folder of Markdown holds.
func (a *app) notebook(folder fs.FS, most int64) (io.Reader, error) {
	records, edited, err := archive.ReadNotebook(folder, most)
	if err != nil {
		return nil, err
	}
	for _, name := range edited {
		fmt.Fprintf(a.stderr, "%s was edited by hand: its records are taken, its words are not.\n", oneLine(name))
	}
	return linesOf(records), nil
}

// linesOf writes records as lines, as they are read.
func linesOf(records iter.Seq2[serve.ExportRecord, error]) io.Reader {
	r, w := io.Pipe()
	go func() {
		buf := bufio.NewWriter(w)
		enc := json.NewEncoder(buf)
		for rec, err := range records {
			if err == nil {
				err = enc.Encode(rec)
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
		w.CloseWithError(buf.Flush())
	}()
	return r
}

// imported is what locket import --from says.
type imported struct {
	Added   int `json:"added"`
	There   int `json:"there_already"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"` // held nothing to take
}

func (a *app) importForeign(cmd *cobra.Command, format foreign.Format, path string) error {
	res, err := a.readForeign(format, path)
	if err != nil {
		return fmt.Errorf("importing: %w", err)
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(a.stderr, "%s: %s\n", oneLine(s.Where), oneLine(s.Reason))
	}
	done := imported{Skipped: len(res.Skipped)}
	return a.with(cmd.Context(), true, func(cl *serve.Client) error {
		for part := range batches(res.Adds) {
			ops := make([]serve.Operation, len(part))
			for i := range part {
				ops[i].Add = &part[i]
			}
			got, err := cl.Batch(cmd.Context(), ops)
			if err != nil {
				return fmt.Errorf("after %s: %w", plural(done.Added, "memory", "memories"), err)
			}
			for i, r := range got.Results {
				switch {
				case r.Problem != nil:
					done.Failed++
					fmt.Fprintf(a.stderr, "%q: %s\n", oneLine(short(part[i].Text)), oneLine(r.Problem.Error()))
				case r.Added != nil && r.Added.Repeated:
					done.There++
				default:
					done.Added++
				}
			}
		}
		err := a.print(done, func(w io.Writer) {
			fmt.Fprintf(w, "Added %d; %d there already, %d failed.\n", done.Added, done.There, done.Failed)
		})
		if err == nil && done.Failed > 0 {
			err = fmt.Errorf("%d of %d failed", done.Failed, len(res.Adds))
		}
		return err
	})
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// batches parts requests so that each batch fits into a body.
func batches(adds []serve.AddRequest) iter.Seq[[]serve.AddRequest] {
	return func(yield func([]serve.AddRequest) bool) {
		for len(adds) > 0 {
			n, size := 0, 0
			for n < len(adds) && n < linesOfBatch {
				// A text and its content, each at worst 6 bytes a byte as JSON, but
				// hardly ever over 2.
				size += 2*len(adds[n].Text) + 1024
				if f := adds[n].Fields.Resource; f != nil {
					size += 2 * len(f.Content)
				}
				if n > 0 && size > serve.MaxBody/2 {
					break
				}
				n++
			}
			if !yield(adds[:n]) {
				return
			}
			adds = adds[n:]
		}
	}
}

func (a *app) readForeign(format foreign.Format, path string) (foreign.Result, error) {
	if path == "-" {
		return foreign.Read(format, "standard input", a.stdin)
	}
	st, err := os.Stat(path)
	if err != nil {
		return foreign.Result{}, err
	}
	if st.IsDir() {
		if format != foreign.Notes {
			return foreign.Result{}, usagef("%s is a folder; --from %s wants a file", path, format)
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			return foreign.Result{}, err
		}
		defer root.Close()
		return foreign.ReadNotes(root.FS())
	}
	f, err := os.Open(path)
	if err != nil {
		return foreign.Result{}, err
	}
	defer f.Close()
	return foreign.Read(format, st.Name(), f)
}
