// One thread updates the position of a body and another one its velocity. Each writes the whole struct back, with an old
// copy of the other's field. (Writing only its own field would be right.)
//> bodies = ck.asarray(floats(64 * 2)); h = bodies.get().reshape(64, 2); kernel[1, 128](bodies, 0.5)
//= np.testing.assert_array_equal(bodies.get().reshape(64, 2), h + np.float32([1, 0.5]))
struct Body {
    float position, velocity;
};

__global__ void wrong(Body *bodies, float step) {
    Body body = bodies[threadIdx.x / 2]; //! race
    if (threadIdx.x % 2)
        body.velocity += step;
    else
        body.position += 1;
    bodies[threadIdx.x / 2] = body; //! race
}

__global__ void right(Body *bodies, float step) {
    Body &body = bodies[threadIdx.x / 2];
    if (threadIdx.x % 2)
        body.velocity += step;
    else
        body.position += 1;
}
