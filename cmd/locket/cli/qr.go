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

// QR draws a text as a QR code for a terminal. For any other output, and for a text that is too
// long for a code, the picture is empty. If the terminal is too small, the picture is a sentence
// that says so, and whole is false. Callers must therefore show the text as well.
func (a *App) QR(at io.Writer, text string) (picture string, whole bool) {
	f, ok := at.(*os.File)
	if !(ok && term.IsTerminal(int(f.Fd())) || a.Terminal != nil && a.Terminal()) {
		return "", false
	}
	picture, err := pairing.QR(text)
	if err != nil {
		return "", false
	}
	if !a.Paint.on { // without colours: light on dark, like most terminals
		picture = uncoloured.Replace(picture)
	}
	wide, high := qrSize(picture)
	columns, lines := terminalSize(at)
	if columns > 0 && (wide > columns || high > lines) {
		return fmt.Sprintf("The terminal is too small for the QR code, which needs %d columns and %d lines.\n", wide, high), false
	}
	return picture, true
}

// uncoloured turns a coloured picture into one of plain characters.
var uncoloured = strings.NewReplacer("\x1b[30;47m", "", "\x1b[0m", "", "█", " ", " ", "█", "▀", "▄", "▄", "▀")

// qrSize returns how many columns and lines a QR code needs.
func qrSize(picture string) (columns, lines int) {
	line, _, _ := strings.Cut(picture, "\n")
	return utf8.RuneCountInString(uncoloured.Replace(line)), strings.Count(picture, "\n")
}

// terminalSize returns the size of the terminal that w writes to, or 0 if w is no terminal.
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
