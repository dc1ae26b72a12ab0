package main

import (
	"bytes"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// withoutComments leaves out files of which only comments have changed since a commit. A comment in a proto file changes the comments
// of generated code, on which most packages depend.
func withoutComments(commit string, files []string) ([]string, error) {
	var kept []string
	for _, file := range files {
		if ext := path.Ext(file); ext != ".go" && ext != ".binpb" {
			kept = append(kept, file)
			continue
		}
		now, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			kept = append(kept, file)
			continue
		} else if err != nil {
			return nil, err
		}
		before, err := command("git", "show", commit+":"+file)
		if err != nil || !sameWithoutComments(file, before, now) { // a new file has no state before
			kept = append(kept, file)
		}
	}
	return kept, nil
}

func sameWithoutComments(file string, before, now []byte) bool {
	if path.Ext(file) == ".binpb" {
		a, errBefore := withoutSourceInfo(before)
		b, errNow := withoutSourceInfo(now)
		return errBefore == nil && errNow == nil && proto.Equal(a, b)
	}
	a, okBefore := tokensOf(before)
	b, okNow := tokensOf(now)
	return okBefore && okNow && a == b
}

// withoutSourceInfo reads an image of the contract without its comments and the positions of its declarations.
func withoutSourceInfo(image []byte) (*descriptorpb.FileDescriptorSet, error) {
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(image, set); err != nil {
		return nil, err
	}
	for _, file := range set.File {
		file.SourceCodeInfo = nil
	}
	return set, nil
}

// tokensOf returns the tokens of a Go file with its directives, such as //go:embed, and without other comments. A comment before
// `import "C"` is a program, so such a file is not compared.
func tokensOf(source []byte) (string, bool) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", source, parser.ImportsOnly)
	if err != nil {
		return "", false
	}
	for _, imported := range parsed.Imports {
		if imported.Path.Value == `"C"` {
			return "", false
		}
	}
	var s scanner.Scanner
	var out bytes.Buffer
	failed := false
	s.Init(fset.AddFile("", fset.Base(), len(source)), source, func(token.Position, string) { failed = true }, scanner.ScanComments)
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return out.String(), !failed
		case tok == token.COMMENT && !strings.HasPrefix(text, "//go:") && !strings.HasPrefix(text, "//line "):
			continue
		}
		out.WriteString(tok.String())
		out.WriteByte(' ')
		if tok != token.SEMICOLON { // a semicolon may stand for the end of a line
			out.WriteString(text)
		}
		out.WriteByte('\n')
	}
}
