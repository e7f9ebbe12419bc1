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

// QR draws a text as a QR code for a terminal; for any other output it gives nothing. Where the
// terminal can't show all of it, a sentence stands in its place, and whole is false. A text that is
// too long for a code gives nothing. So the text has to stand beside it.
func (a *App) QR(at io.Writer, text string) (picture string, whole bool) {
	f, ok := at.(*os.File)
	if !(ok && term.IsTerminal(int(f.Fd())) || a.Terminal != nil && a.Terminal()) {
		return "", false
	}
	picture, err := pairing.QR(text)
	if err != nil {
		return "", false
	}
	if !a.Paint.on { // without colours: light on dark, as terminals mostly are
		picture = uncoloured.Replace(picture)
	}
	wide, high := qrSize(picture)
	columns, lines := terminalSize(at)
	if columns > 0 && (wide > columns || high > lines) {
		return fmt.Sprintf("The terminal is too small for the QR code, which takes %d columns and %d lines.\n", wide, high), false
	}
	return picture, true
}

// uncoloured turns a picture in colours into one of the characters alone.
var uncoloured = strings.NewReplacer("\x1b[30;47m", "", "\x1b[0m", "", "█", " ", " ", "█", "▀", "▄", "▄", "▀")

// qrSize is how many columns and lines a QR code takes.
func qrSize(picture string) (columns, lines int) {
	line, _, _ := strings.Cut(picture, "\n")
	return utf8.RuneCountInString(uncoloured.Replace(line)), strings.Count(picture, "\n")
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
