//go:build !wasip1

// Command guest is a plugin; see main.go, which is built for GOOS=wasip1 alone.
package main

func main() {}
