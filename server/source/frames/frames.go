// Package frames finds the files of a commit that the calls of a stack trace name. A stack names a file as it lay on the machine that built
// or ran it; the commit has it under another path. The package takes such a difference only when it is proven, and answers no file instead
// of a guess: a wrong line of code costs a person or an agent more than a missing one.
//
// A difference is a Mapping: the folder of the stack, and the folder of the commit that stands for it. It is proven when three different
// calls of the application are found by it, and no call speaks against it. A call is found when the file exists, has the line, and has the
// name of the function at the line or above it.
package frames

import (
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/stacktrace"
)

// Proof is the number of different calls that prove a mapping.
const Proof = 3

// Call is a call of the application in the form in which files are searched.
type Call struct {
	// Path has the names of the folders and of the file. The first name of an absolute path is "/".
	Path []string
	Line int
	// Name is a word that the file has at the line or above it, or empty if the frame names no function of a person.
	Name string
}

// Of returns the call of a frame. It is not ok for code outside of the application, and for frames without a file or line.
func Of(f *stacktrace.Frame) (c Call, ok bool) {
	if !f.InApp || f.Line == 0 {
		return Call{}, false
	}
	path := pathOf(f)
	if len(path) == 0 {
		return Call{}, false
	}
	return Call{path, int(f.Line), nameOf(f)}, true
}

// CallsOf returns the calls of a stack and of its causes, without those of other stacks in the text.
func CallsOf(stack, message string) []Call {
	var parsed stacktrace.Stack
	parsed.Parse(stack, message)
	var calls []Call
	for _, section := range parsed.Sections {
		if section.Role != stacktrace.Cause {
			continue
		}
		for i := range section.Frames {
			if c, ok := Of(&section.Frames[i]); ok {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

func (c Call) key() string { return strings.Join(c.Path, "/") + ":" + strconv.Itoa(c.Line) }

func (c Call) file() string { return c.Path[len(c.Path)-1] }

// pathOf cuts a file into names.
func pathOf(f *stacktrace.Frame) []string {
	file := strings.ReplaceAll(f.File, `\`, "/")
	if i := strings.IndexByte(file, '?'); i >= 0 {
		file = file[:i]
	}
	if strings.HasPrefix(file, "<") || strings.HasPrefix(file, "dart:") || strings.HasPrefix(file, "node:") {
		return nil
	}
	if i := strings.Index(file, "://"); i >= 0 { // file:///app/x.js, webpack://shop/./src/x.js, https://shop.example/assets/x.js
		scheme := file[:i]
		file = file[i+3:]
		if scheme != "file" {
			if j := strings.IndexByte(file, '/'); j >= 0 {
				file = file[j+1:]
			}
		}
	}
	if f.Language == stacktrace.Java && !strings.Contains(file, "/") {
		file = javaFile(f.Module, file)
	}
	var path []string
	if strings.HasPrefix(file, "/") {
		path = append(path, "/")
	}
	for part := range strings.SplitSeq(file, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(path) > 0 && path[len(path)-1] != "/" && path[len(path)-1] != ".." {
				path = path[:len(path)-1]
			} else {
				return nil // it leaves a folder that is not known
			}
		default:
			path = append(path, part)
		}
	}
	if len(path) == 1 && path[0] == "/" {
		return nil
	}
	return path
}

// javaFile is the path of a class: Java names the file without its folder, which is that of the package.
func javaFile(module, file string) string {
	if file == "" || file == "Unknown Source" || file == "Native Method" || file == "SourceFile" {
		return ""
	}
	if i := strings.LastIndexByte(module, '/'); i >= 0 { // app//com.acme.Shop, or java.base/java.util.List
		module = module[i+1:]
	}
	i := strings.LastIndexByte(module, '.')
	if i < 0 {
		return file
	}
	return strings.ReplaceAll(module[:i], ".", "/") + "/" + file
}
