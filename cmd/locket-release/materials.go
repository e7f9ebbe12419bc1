package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// materials writes a CycloneDX bill of materials, from what the binaries say about themselves.
func (r *making) materials(chosen []target) error {
	parts := map[string]cdx.Component{}
	of := map[string]map[string]bool{} // the parts of each command
	for _, t := range chosen {
		for _, c := range t.commands() {
			info, err := buildinfo.ReadFile(r.binary(t, c))
			if err != nil {
				return err
			}
			if of[c] == nil {
				of[c] = map[string]bool{}
			}
			std := strings.TrimPrefix(info.GoVersion, "go")
			for _, m := range append(info.Deps, nil) {
				part := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: "std", Version: std, PackageURL: "pkg:golang/std@" + std}
				if m != nil {
					if m.Replace != nil {
						m = m.Replace
					}
					// Go's sum of a module covers all its files. It is not the hash of one file.
					part = cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: "pkg:golang/" + m.Path + "@" + m.Version,
						Properties: &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}}
				}
				part.BOMRef = part.PackageURL
				parts[part.BOMRef] = part
				of[c][part.BOMRef] = true
			}
		}
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &cdx.Component{BOMRef: "locket", Type: cdx.ComponentTypeApplication, Name: "locket", Version: r.number(),
		PackageURL: "pkg:github/locket-dev/locket@" + r.version, Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}}}
	var components []cdx.Component
	var graph []cdx.Dependency
	whole := []string{}
	for _, c := range slices.Sorted(maps.Keys(of)) {
		ref := "command:" + c
		components = append(components, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeApplication, Name: c, Version: r.number()})
		needs := slices.Sorted(maps.Keys(of[c]))
		graph = append(graph, cdx.Dependency{Ref: ref, Dependencies: &needs})
		whole = append(whole, ref)
	}
	graph = append([]cdx.Dependency{{Ref: "locket", Dependencies: &whole}}, graph...)
	for _, ref := range slices.Sorted(maps.Keys(parts)) {
		components = append(components, parts[ref])
	}
	bom.Components, bom.Dependencies = &components, &graph
	return r.file(fmt.Sprintf("locket_%s_sbom.cdx.json", r.number()), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}
