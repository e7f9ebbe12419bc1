package cli

import (
	"io"
	"os"
)

// ReadInput reads a file, or standard input if its name is -: not more than most bytes.
func (a *App) ReadInput(file string, most int64) ([]byte, error) {
	in := io.Reader(a.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most))
}
