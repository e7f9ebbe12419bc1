package rules

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZTry(t *testing.T) {
	f, err := os.Open(os.Getenv("TRY"))
	if err != nil {
		t.Skip()
	}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		text, want, _ := strings.Cut(line, "\t")
		out := hear(t, text)
		fmt.Printf("%s    [%s]\n", text, want)
		k := keys(out)
		for i, c := range out.Candidates {
			fmt.Printf("      %s (%.2f) %q\n", k[i], c.Confidence, c.Text)
		}
		if len(out.Candidates) == 0 && os.Getenv("WHY") != "" {
			for _, r := range out.Refusals {
				fmt.Printf("      x %s: %s\n", r.Kind, r.Reason)
			}
		}
	}
}
