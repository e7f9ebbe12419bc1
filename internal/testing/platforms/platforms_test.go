// Package platforms checks that the commands compile for platforms for which .ci/cross does not
// build. Only types are checked, which takes a tenth of a build; releases are built for all
// platforms.
package platforms

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

func TestCommandsCompile(t *testing.T) {
	for _, p := range []struct{ os, arch string }{{"linux", "riscv64"}, {"darwin", "arm64"}, {"darwin", "amd64"}} {
		t.Run(p.os+"/"+p.arch, func(t *testing.T) {
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes,
				Env:  append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0"),
			}, "github.com/locket-dev/locket/cmd/locket")
			if err != nil {
				t.Fatal(err)
			}
			packages.PrintErrors(loaded)
			packages.Visit(loaded, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
