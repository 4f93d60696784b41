// One thread updates the position of a body and another one its velocity. Each writes the whole struct back, with an
// old copy of the other's number. (Writing only its own number would be right.)
//> bodies = ck.asarray(floats(64 * 2)); h = bodies.get(); kernel[1, 128](bodies, 0.5)
//= np.testing.assert_array_equal(bodies.get(), h + np.float32(0.5))
struct Body {
    float state[2]; // position, velocity
};

__global__ void wrong(Body *bodies, float step) {
    Body body = bodies[threadIdx.x / 2]; //! race
    body.state[threadIdx.x % 2] += step;
    bodies[threadIdx.x / 2] = body; //! race
}

__global__ void right(Body *bodies, float step) {
    bodies[threadIdx.x / 2].state[threadIdx.x % 2] += step;
}
