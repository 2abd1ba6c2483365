// The exceptions of the package: one class for each error number of the library.

/** A call of the library that failed: the message is its sentence, `code` its number. */
export class PerhapsError extends Error {
    constructor(code, message) {
        super(message);
        this.name = new.target.name;
        this.code = code;
    }
}

export class InvalidError extends PerhapsError {}
export class MemoryError extends PerhapsError {}
export class ForeignError extends PerhapsError {}
export class VersionError extends PerhapsError {}
export class DamagedError extends PerhapsError {}
export class SecretKeyError extends PerhapsError {}
export class CannotError extends PerhapsError {}
export class MismatchError extends PerhapsError {}
export class ReadOnlyError extends PerhapsError {}
export class DirtyError extends PerhapsError {}
export class LayoutError extends PerhapsError {}
export class FullError extends PerhapsError {}
export class SealedError extends PerhapsError {}
export class UnsealedError extends PerhapsError {}

// By number: enum perhaps_error.
const errors = {
    [-1]: InvalidError,
    [-2]: MemoryError,
    [-4]: ForeignError,
    [-5]: VersionError,
    [-6]: DamagedError,
    [-7]: SecretKeyError,
    [-8]: CannotError,
    [-9]: MismatchError,
    [-10]: ReadOnlyError,
    [-11]: DirtyError,
    [-12]: LayoutError,
    [-14]: FullError,
    [-15]: SealedError,
    [-16]: UnsealedError,
};


// Not exported by name, so that `export *` gives the classes alone.
export default function errorOf(code, message) {
    return new (errors[code] ?? PerhapsError)(code, message);
}
