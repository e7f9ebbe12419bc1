package main

import "embed"

// carried are the files that packages and releases contain besides what is built.
//
//go:embed files
var carried embed.FS
