package copycmd

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

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/foreign"
	"github.com/locket-dev/locket/node/serve"
)

// importFlags are those of locket import.
type importFlags struct {
	from, signer, identity, passphraseFile string
	keyFile                                string // of an address that is read
	unsigned, dry                          bool
	me                                     []string
	dates                                  string
}

func ImportCommand(a *cli.App) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use: "import [FILE|FOLDER|URL]", Short: "Read an export, or the memories of another system", Args: cli.Between(0, 1, ""),
		Long: `Reads what locket export wrote, in any of its forms, from a file or standard input. The
export is checked first. One that is cut off, was changed, or was signed by a stranger is
refused as a whole. What is there already is skipped, and what was forgotten here stays
forgotten.

--from reads other systems. Importing twice adds nothing, and --dry-run shows what would be
added.

  mem0       the JSON of get_all or of an export, and of OpenMemory's list
  chatgpt    saved memories as text or JSON, or conversations.json
  claude     conversations.json
  notes      a Markdown file or folder
  whatsapp   a chat, exported without media
  telegram   result.json of Telegram Desktop, of a chat or the account
  mbox       a mailbox in one file, as Thunderbird and Google Takeout write it
  locations  Google's Timeline.json, or Takeout's Semantic Location History, a file or folder
  mirix      the answer to GET /memory/components?memory_type=all&limit=200
  letta      an agent file (.af), or a list of archival passages
  omi        memories of its developer API, or conversations as its export and webhook have them;
             or the address of that API, https://api.omi.me or your own, with --key-file
  screenpipe the answer to GET /search
  basic-memory  its folder of Markdown

Memories of mem0, notes and mails are kept as they stand, and visits to places as episodes.
What was said goes through the extractors: of conversations what you wrote, of chats what
everybody wrote. --me says what you are called in a chat, if not as in your settings.`,
		Example: `  locket import memories.jsonl.age
  locket import --from mem0 mem0.json
  locket import --from notes ~/Notes
  locket import --from whatsapp --me "Anna B." --dry-run chat.txt
  locket import --from omi --key-file omi.key --dry-run https://api.omi.me`,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "-"
			switch {
			case len(args) == 1:
				path = args[0]
			case a.Talks():
				return cli.Usagef("a file is missing")
			}
			if f.from != "" && !slices.Contains(foreign.Formats, foreign.Format(f.from)) {
				return cli.Usagef("--from %q: want %s", f.from, systems())
			}
			if f.dates != "" && !slices.Contains(foreign.Orders, f.dates) {
				return cli.Usagef("--dates %q: want %s", f.dates, strings.Join(foreign.Orders, ", "))
			}
			if at := strings.Contains(path, "://"); at != (f.keyFile != "") || at && f.from != string(foreign.Omi) {
				return cli.Usagef("an address is read with --from omi and --key-file, a file that has the key")
			}
			if f.from != "" {
				return importForeign(a, cmd, &f, path)
			}
			if f.dry {
				return cli.Usagef("--dry-run: want --from, too")
			}
			return importArchive(a, cmd, path, &f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "of another `system`: "+systems())
	fl.BoolVar(&f.dry, "dry-run", false, "with --from: show what would be added, and add nothing")
	fl.StringArrayVar(&f.me, "me", nil, "with --from: a `name` that you have in the chat; may be given again")
	fl.StringVar(&f.dates, "dates", "", "with --from whatsapp: the `order` of its dates, dmy, mdy or ymd")
	fl.StringVar(&f.keyFile, "key-file", "", "with --from omi and an address: a `file` with the key that Omi's app made, under Settings, Developer")
	fl.StringVar(&f.signer, "signer", "", "accept it although it is signed by the key with these five `words`, which belongs to no device of yours")
	fl.BoolVar(&f.unsigned, "unsigned", false, "take it without a signature")
	fl.StringVar(&f.identity, "identity", "", "open it with a `file` of age identities")
	fl.StringVar(&f.passphraseFile, "passphrase-file", "", "open it with a passphrase out of a `file`")
	return c
}

// systems are those that an import can read, for messages.
func systems() string {
	names := make([]string, len(foreign.Formats))
	for i, f := range foreign.Formats {
		names[i] = string(f)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// source is what an import reads: a file that was opened, sealed or not.
type source struct {
	io.ReaderAt
	size  int64
	close func() error
}

// openSource opens a file. Standard input is read to its end first.
func openSource(a *cli.App, path string, f *importFlags) (*source, error) {
	s := &source{close: func() error { return nil }}
	if path == "-" {
		b, err := io.ReadAll(a.Stdin)
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
		p, err := a.Passphrase(f.passphraseFile, "Passphrase of the export: ")
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

func importArchive(a *cli.App, cmd *cobra.Command, path string, f *importFlags) (err error) {
	opt := serve.ImportOptions{Unsigned: f.unsigned, Signer: strings.Join(strings.Fields(f.signer), " ")}
	var body io.Reader
	total := 0 // kB, where it is known
	if st, serr := os.Stat(path); path != "-" && serr == nil && st.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer root.Close()
		if _, err := root.Stat("README.md"); errors.Is(err, os.ErrNotExist) {
			return cli.AdvisedError{Err: fmt.Errorf("importing %s: it has no README.md, so it is not the notebook of an export", path), Advice: "If it is a folder of notes: give --from notes."}
		}
		if body, err = notebook(a, root.FS(), archive.MaxNotebook); err != nil {
			return fmt.Errorf("importing %s: %w", path, err)
		}
	} else {
		s, err := openSource(a, path, f)
		if err != nil {
			return fmt.Errorf("importing: %w", err)
		}
		defer s.close()
		total = int(s.size / 1000)
		if body, err = lines(a, path, s); err != nil {
			if path == "-" {
				path = "standard input"
			}
			return fmt.Errorf("importing %s: %w", path, err)
		}
	}
	if c, ok := body.(io.Closer); ok {
		defer c.Close() // which ends the writer of a pipe
	}
	return a.With(cmd.Context(), true, func(cl *serve.Client) error {
		m := a.Meter("import", "kB", total)
		r, err := cl.Import(cmd.Context(), m.CountedReader(body), opt)
		m.End()
		switch {
		case errors.Is(err, serve.ErrSigner):
			err = cli.AdvisedError{Err: err, Advice: `Export printed five words. If the archive is signed by the same: add --signer "THE FIVE WORDS". One without a signature is taken with --unsigned.`}
		case err != nil:
			err = cli.GoesOnError{Err: err, State: "What was taken until then is in. The same command goes on from there."}
		}
		return a.Printed(err, r, func(w io.Writer) {
			fmt.Fprintf(w, "Took %s; %d there already, %d refused.\n", cli.Plural(r.Taken, "record", "records"), r.Skipped, r.Refused)
			if r.Refused > 0 {
				fmt.Fprintln(w, a.Here("See why: locket doctor"))
			}
			if len(r.Sealed) > 0 {
				fmt.Fprintf(w, "Sealed to the device that made the export, and not to be opened here: %s. To have them, make the export there with --secrets --encrypt, and import it, too.\n", cli.OneLine(strings.Join(r.Sealed, ", ")))
			}
			if r.Forgotten > 0 {
				fmt.Fprintf(w, "%s forgotten here and stay forgotten. To have them again, import into another home: locket setup --home FOLDER\n", cli.Plural(r.Forgotten, "record was", "records were"))
			}
		})
	})
}

// lines gives the lines of an archive: those of the file, or of the notebook
// that is in it.
func lines(a *cli.App, path string, s *source) (io.Reader, error) {
	start := make([]byte, 512)
	n, err := s.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	start = start[:n]
	switch {
	case s.size < int64(cap(start)) && len(bytes.TrimSpace(start)) == 0:
		return nil, errors.New("it is empty")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		z, err := zip.NewReader(s, s.size)
		if err != nil {
			return nil, err
		}
		return notebook(a, z, archive.MaxZipped(s.size))
	case foreign.Guess(path, start) != "":
		return nil, fmt.Errorf("this looks like something of %s: give --from %s", foreign.Guess(path, start), foreign.Guess(path, start))
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("[")), bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) && !bytes.Contains(start, []byte(`"kind"`)):
		return nil, errors.New("this is no export of Locket: another system's file? Give --from, with its name")
	}
	return io.NewSectionReader(s, 0, s.size), nil
}

// notebook gives the lines of the archive that a folder of Markdown holds.
func notebook(a *cli.App, folder fs.FS, most int64) (io.Reader, error) {
	records, edited, err := archive.ReadNotebook(folder, most)
	if err != nil {
		return nil, err
	}
	for _, name := range edited {
		fmt.Fprintf(a.Stderr, "%s was edited by hand: its records are taken, its words are not.\n", cli.OneLine(name))
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
