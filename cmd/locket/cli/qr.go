package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/locket-dev/locket/sync/pairing"
)

// QR draws a text as a QR code for an output. Where that is a terminal that can't show all of it,
// a sentence stands in its place, and whole is false. A text that is too long for a code
// gives nothing. So the text has to stand beside it.
func QR(at io.Writer, text string) (picture string, whole bool) {
	picture, err := pairing.QR(text)
	if err != nil {
		return "", false
	}
	wide, high := qrSize(picture)
	columns, lines := terminalSize(at)
	if columns > 0 && (wide > columns || high > lines) {
		return fmt.Sprintf("The terminal is too small for the QR code, which takes %d columns and %d lines.\n", wide, high), false
	}
	return picture, true
}

// qrSize is how many columns and lines a QR code takes.
func qrSize(picture string) (columns, lines int) {
	line, _, _ := strings.Cut(picture, "\n")
	line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[30;47m"), "\x1b[0m")
	return utf8.RuneCountInString(line), strings.Count(picture, "\n")
}

// terminalSize is that of the terminal that is written to, 0 where there is none.
func terminalSize(w io.Writer) (columns, lines int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	columns, lines, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, lines
}
